// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/layout_view.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace forkpoint {

namespace {

constexpr qreal Margin = 6;

QString ownerText(const LayoutPart &part)
{
    return part.owner.empty() ? LayoutView::tr("no rank known") : displayText(part.owner);
}

bool differs(const LayoutPart &part)
{
    return part.different.value_or(0) > 0;
}

} // namespace

QString boxText(const Box &box)
{
    QStringList parts;
    for (std::size_t axis = 0; axis < box.origin.size(); ++axis) {
        const Index first = box.origin[axis], size = box.size[axis];
        parts += size == 0 ? LayoutView::tr("none")
            : size == 1    ? groupedText(first)
                           : groupedText(first) + QChar(0x2013) + groupedText(first + size - 1);
    }
    return parts.isEmpty() ? LayoutView::tr("the one element")
                           : u'[' + parts.join(QStringLiteral(", ")) + u']';
}

QString differenceText(const LayoutPart &part)
{
    if (!part.different)
        return LayoutView::tr("not counted");
    if (*part.different == 0)
        return LayoutView::tr("equal");
    return LayoutView::tr("%1 of %2 differ")
        .arg(groupedText(*part.different), groupedText(part.elements));
}

LayoutView::LayoutView(Side side, QWidget *parent) : QWidget(parent), m_side(side)
{
    setObjectName(side == Side::A ? QStringLiteral("layoutA") : QStringLiteral("layoutB"));
    setAccessibleName(side == Side::A ? tr("Parts of A") : tr("Parts of B"));
    setMouseTracking(true);
}

void LayoutView::setLayout(const SideLayout *layout)
{
    m_layout = layout;
    update();
}

void LayoutView::setSelectedOwner(const QString &owner)
{
    m_owner = owner;
    update();
}

QRectF LayoutView::frame() const
{
    return QRectF(rect()).adjusted(Margin, Margin, -Margin, -Margin);
}

QRectF LayoutView::rectOf(const LayoutPart &part) const
{
    const QRectF whole = frame();
    const auto share = [&](std::size_t axis, bool end) {
        if (axis >= part.box.origin.size() || m_layout->shape.dims[axis] == 0)
            return end ? 1.0 : 0.0;
        const Index at = part.box.origin[axis] + (end ? part.box.size[axis] : 0);
        return double(at) / double(m_layout->shape.dims[axis]);
    };
    const qreal top = whole.top() + whole.height() * share(0, false);
    const qreal left = whole.left() + whole.width() * share(1, false);
    return QRectF(left, top, whole.width() * (share(1, true) - share(1, false)),
                  whole.height() * (share(0, true) - share(0, false)));
}

const LayoutPart *LayoutView::partAt(const QPointF &place) const
{
    if (!m_layout)
        return nullptr;
    const auto found =
        std::find_if(m_layout->parts.begin(), m_layout->parts.end(),
                     [&](const LayoutPart &part) { return rectOf(part).contains(place); });
    return found == m_layout->parts.end() ? nullptr : &*found;
}

void LayoutView::paintPart(QPainter &painter, const LayoutPart &part) const
{
    const Theme theme = Theme::of(palette());
    const QRectF area = rectOf(part);
    if (area.isEmpty())
        return;
    painter.fillRect(area, theme.header);
    if (differs(part)) {
        QColor wash = theme.difference;
        const double share = double(*part.different) / double(std::max<Index>(1, part.elements));
        wash.setAlphaF(float(0.25 + 0.35 * share));
        painter.fillRect(area, wash);
        painter.fillRect(area, QBrush(theme.difference, Qt::BDiagPattern));
    } else if (!part.different) {
        painter.fillRect(area, QBrush(theme.unknown, Qt::Dense7Pattern));
    }
    const bool chosen = !m_owner.isEmpty() && ownerText(part) == m_owner;
    painter.setPen(QPen(chosen ? theme.color(m_side) : theme.border, chosen ? 3 : 1));
    painter.drawRect(area);
    const QString sign = differs(part) ? QStringLiteral("≠ ")
        : part.different               ? QStringLiteral("= ")
                                       : QStringLiteral("? ");
    const bool isWhole = m_layout->parts.size() == 1 && part.owner.empty();
    QStringList lines{sign + (isWhole ? tr("the whole tensor") : ownerText(part))};
    if (differs(part))
        lines += differenceText(part);
    const QFontMetricsF metrics(font());
    while (lines.size() > 1 && metrics.lineSpacing() * qreal(lines.size()) > area.height() - 2)
        lines.removeLast();
    if (metrics.height() > area.height()
        || metrics.horizontalAdvance(lines.first()) > area.width() - 4)
        return; // too small for words: its tool tip and the table have them
    if (lines.size() > 1 && metrics.horizontalAdvance(lines.last()) > area.width() - 4)
        lines.removeLast();
    const QString text = lines.join(u'\n');
    QRectF behind = metrics.boundingRect(area, Qt::AlignCenter, text).adjusted(-3, -1, 3, 1);
    painter.fillRect(behind, theme.surface); // no words on hatching
    painter.setPen(differs(part) ? theme.difference : theme.text);
    painter.drawText(area, Qt::AlignCenter, text);
}

void LayoutView::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const Theme theme = Theme::of(palette());
    if (!m_layout)
        return;
    painter.fillRect(frame(), QBrush(theme.unknown, Qt::Dense7Pattern)); // what no part holds
    for (const LayoutPart &part : m_layout->parts)
        paintPart(painter, part);
    painter.setPen(theme.border);
    painter.drawRect(frame());
}

void LayoutView::mousePressEvent(QMouseEvent *event)
{
    const LayoutPart *part = partAt(event->position());
    Q_EMIT ownerActivated(part ? ownerText(*part) : QString());
}

bool LayoutView::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const LayoutPart *part = partAt(help->pos());
    QToolTip::showText(help->globalPos(),
                       part ? plainToolTip(ownerText(*part) + QStringLiteral(", ")
                                           + boxText(part->box) + QStringLiteral(", ")
                                           + displayText(part->file) + QStringLiteral(": ")
                                           + differenceText(*part))
                            : QString(),
                       this);
    return true;
}

} // namespace forkpoint
