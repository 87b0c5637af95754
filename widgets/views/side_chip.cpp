// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/side_chip.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"

#include <QDragEnterEvent>
#include <QMimeData>
#include <QPainter>
#include <QUrl>

namespace forkpoint {

namespace {

constexpr int Margin = 10, Gap = 8;

QFont bold(QFont font)
{
    font.setBold(true);
    return font;
}

} // namespace

QString droppedPath(const QMimeData *data)
{
    for (const QUrl &url : data->urls()) {
        if (url.isLocalFile())
            return url.toLocalFile();
    }
    return {};
}

SideChip::SideChip(Side side, QWidget *parent) : QAbstractButton(parent), m_side(side)
{
    setAcceptDrops(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setState({});
}

void SideChip::setState(const SideState &state)
{
    m_state = state;
    const QString letter = m_side == Side::A ? QStringLiteral("A") : QStringLiteral("B");
    setAccessibleName(tr("Side %1: %2 %3").arg(letter, pathText(), stateText()));
    QString tip = tr("Side %1: %2\n%3").arg(letter, pathText(), stateText());
    tip += tr("\nClick to open another, or drop a file or folder here.");
    setToolTip(plainToolTip(tip));
    updateGeometry();
    update();
}

QString SideChip::pathText() const
{
    return m_state.phase == SideState::Phase::Empty ? tr("Open…") : displayText(m_state.path);
}

QString SideChip::stateText() const
{
    switch (m_state.phase) {
    case SideState::Phase::Empty: return tr("or drop a file or folder");
    case SideState::Phase::Opening: return tr("opening…");
    case SideState::Phase::Failed: return tr("✖ ") + displayText(m_state.error);
    case SideState::Phase::Open: break;
    }
    QString text = displayText(m_state.format);
    const bool series =
        m_state.steps.size() > 1 || (m_state.steps.size() == 1 && m_state.steps.front().step);
    if (series)
        text += tr(", ") + countedText(m_state.steps.size(), "checkpoint", "checkpoints");
    return text;
}

QSize SideChip::sizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    const int wide = 2 * Margin + 2 * Gap
        + QFontMetrics(bold(font())).horizontalAdvance(QStringLiteral("A"))
        + metrics.horizontalAdvance(pathText()) + metrics.horizontalAdvance(stateText());
    return {std::min(wide + 4, metrics.averageCharWidth() * 72), metrics.height() + 10};
}

QSize SideChip::minimumSizeHint() const
{
    return {fontMetrics().averageCharWidth() * 24, fontMetrics().height() + 10};
}

void SideChip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme theme = Theme::of(palette());
    const bool marked = m_dragged || hasFocus();
    painter.setPen(QPen(marked ? theme.color(m_side) : theme.border, marked ? 2 : 1));
    painter.setBrush(isDown() || underMouse() ? theme.header : theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);

    QRect rest = rect().adjusted(Margin, 0, -Margin, 0);
    const QString letter = m_side == Side::A ? QStringLiteral("A") : QStringLiteral("B");
    painter.setFont(bold(font()));
    painter.setPen(theme.color(m_side));
    painter.drawText(rest, Qt::AlignVCenter, letter);
    rest.setLeft(rest.left() + painter.fontMetrics().horizontalAdvance(letter) + Gap);

    painter.setFont(font());
    const QFontMetrics metrics = fontMetrics();
    const int stateWidth = std::min(metrics.horizontalAdvance(stateText()), rest.width() / 2);
    const int pathRoom = rest.width() - stateWidth - Gap;
    const QString path = metrics.elidedText(pathText(), Qt::ElideMiddle, pathRoom);
    painter.setPen(m_state.phase == SideState::Phase::Empty ? theme.muted : theme.text);
    painter.drawText(rest, Qt::AlignVCenter, path);
    rest.setLeft(rest.left() + metrics.horizontalAdvance(path) + Gap);
    const bool failed = m_state.phase == SideState::Phase::Failed;
    painter.setPen(failed ? theme.difference : theme.muted);
    painter.drawText(rest, Qt::AlignVCenter,
                     metrics.elidedText(stateText(), Qt::ElideRight, rest.width()));
}

void SideChip::enterEvent(QEnterEvent *event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void SideChip::leaveEvent(QEvent *event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

void SideChip::dragEnterEvent(QDragEnterEvent *event)
{
    if (droppedPath(event->mimeData()).isEmpty())
        return;
    event->acceptProposedAction();
    m_dragged = true;
    update();
}

void SideChip::dragLeaveEvent(QDragLeaveEvent *)
{
    m_dragged = false;
    update();
}

void SideChip::dropEvent(QDropEvent *event)
{
    m_dragged = false;
    update();
    const QString path = droppedPath(event->mimeData());
    if (path.isEmpty())
        return;
    event->acceptProposedAction();
    Q_EMIT pathDropped(path);
}

} // namespace forkpoint
