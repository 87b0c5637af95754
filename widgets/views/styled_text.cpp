// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/styled_text.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QStyleOption>

#include <cmath>

namespace forkpoint {

namespace {

// A file may name a tensor with 100,000 characters, and a layout of these takes seconds.
constexpr int longestSegment = 400;
constexpr int longestName = 160; // two lines of a page; the tooltip has more of it

} // namespace

StyledText::StyledText(QWidget *parent) : QWidget(parent)
{
    setMouseTracking(true);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void StyledText::setSegments(std::vector<Segment> segments)
{
    m_segments = std::move(segments);
    m_text.clear();
    m_shown.clear();
    bool anyLink = false;
    for (Segment &segment : m_segments) {
        m_text += QString(segment.text).remove(QChar(0x2060)); // the word joiner: for lines alone
        const bool isName = !segment.text.contains(u' ');
        segment.text = elidedMiddle(segment.text, isName ? longestName : longestSegment);
        segment.text.replace(u'\n', QChar::LineSeparator);
        m_shown += segment.text;
        anyLink = anyLink || !segment.link.isEmpty();
    }
    m_currentLink = -1;
    setFocusPolicy(anyLink ? Qt::StrongFocus : Qt::NoFocus);
    setAccessibleName(m_text);
    setToolTip(m_shown.size() < m_text.size() ? plainToolTip(m_text) : QString());
    relayout();
}

QStringList StyledText::links() const
{
    QStringList result;
    for (const Segment &segment : m_segments) {
        if (!segment.link.isEmpty())
            result += segment.link;
    }
    return result;
}

void StyledText::relayout()
{
    updateGeometry();
    update();
}

QList<QTextLayout::FormatRange> StyledText::formats() const
{
    QList<QTextLayout::FormatRange> ranges;
    int start = 0;
    for (std::size_t i = 0; i < m_segments.size(); ++i) {
        const Segment &segment = m_segments[i];
        QTextLayout::FormatRange range;
        range.start = start;
        range.length = int(segment.text.size());
        QFont face = segment.mono ? monospaced(font()) : font();
        face.setBold(segment.bold);
        range.format.setFont(face);
        QColor color = segment.color.isValid() ? segment.color : palette().color(QPalette::Text);
        if (!segment.link.isEmpty()) {
            range.format.setFontUnderline(true);
            if (hasFocus() && int(i) == m_currentLink)
                range.format.setBackground(palette().color(QPalette::Highlight));
        }
        range.format.setForeground(color);
        ranges += range;
        start += range.length;
    }
    return ranges;
}

qreal StyledText::layOut(QTextLayout &layout, qreal width) const
{
    QTextOption option;
    // A name without spaces is broken anywhere rather than cut off.
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    layout.setText(m_shown);
    layout.setFont(font());
    layout.setFormats(formats());
    layout.beginLayout();
    qreal y = 0;
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        line.setPosition(QPointF(0, y));
        y += std::ceil(line.height()) + 2;
    }
    layout.endLayout();
    return y;
}

int StyledText::heightForWidth(int width) const
{
    QTextLayout layout;
    return int(std::ceil(layOut(layout, width)));
}

QSize StyledText::sizeHint() const
{
    const int wide = width() > 100 ? width() : 800;
    return {wide, heightForWidth(wide)};
}

QSize StyledText::minimumSizeHint() const
{
    return {120, m_shown.isEmpty() ? 0 : fontMetrics().height()};
}

void StyledText::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    QTextLayout layout;
    layOut(layout, width());
    layout.draw(&painter, QPointF(0, 0));
}

int StyledText::segmentAt(const QPointF &position) const
{
    QTextLayout layout;
    layOut(layout, width());
    for (int i = 0; i < layout.lineCount(); ++i) {
        const QTextLine line = layout.lineAt(i);
        if (!line.naturalTextRect().contains(position))
            continue;
        const int cursor = line.xToCursor(position.x(), QTextLine::CursorOnCharacter);
        int end = 0;
        for (std::size_t s = 0; s < m_segments.size(); ++s) {
            end += int(m_segments[s].text.size());
            if (cursor < end)
                return int(s);
        }
    }
    return -1;
}

void StyledText::mouseMoveEvent(QMouseEvent *event)
{
    const int segment = segmentAt(event->position());
    const bool link = segment >= 0 && !m_segments[std::size_t(segment)].link.isEmpty();
    setCursor(link ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void StyledText::mouseReleaseEvent(QMouseEvent *event)
{
    const int segment = segmentAt(event->position());
    if (event->button() != Qt::LeftButton || segment < 0)
        return;
    const QString link = m_segments[std::size_t(segment)].link;
    if (!link.isEmpty())
        Q_EMIT linkActivated(link);
}

void StyledText::keyPressEvent(QKeyEvent *event)
{
    const int count = int(m_segments.size());
    const bool forward = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down;
    const bool backward = event->key() == Qt::Key_Left || event->key() == Qt::Key_Up;
    if (forward || backward) {
        const int step = forward ? 1 : -1;
        for (int i = m_currentLink + step; i >= 0 && i < count; i += step) {
            if (m_segments[std::size_t(i)].link.isEmpty())
                continue;
            m_currentLink = i;
            update();
            break;
        }
    } else if (event->matches(QKeySequence::Copy)) {
        copy();
    } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter
                || event->key() == Qt::Key_Space)
               && !links().isEmpty()) {
        const int current = m_currentLink;
        Q_EMIT linkActivated(current < 0 ? links().first() : m_segments[std::size_t(current)].link);
    } else {
        QWidget::keyPressEvent(event);
    }
}

void StyledText::copy() const
{
    QGuiApplication::clipboard()->setText(m_text);
}

void StyledText::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Copy text")), &QAction::triggered, this, [this] { copy(); });
    menu->popup(event->globalPos());
}

void StyledText::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange)
        relayout();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
