// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/cell_delegate.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QPainter>

#include <algorithm>

namespace forkpoint {

namespace {

constexpr int Margin = 6;

QColor colorFor(const QModelIndex &index, const QPalette &palette)
{
    return Theme::of(palette).color(ThemeColor(index.data(ColorRole).toInt()));
}

void paintBar(QPainter *painter, const QRect &area, double fraction, const QColor &color)
{
    const int height = std::max(4, area.height() * 2 / 5);
    const int length = std::max(2, int(fraction * area.width()));
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(color);
    painter->drawRoundedRect(QRect(area.left(), area.center().y() - height / 2 + 1, length, height),
                             2, 2);
}

/// Where the part of a name begins that ends before `end`.
qsizetype partBefore(const QString &name, qsizetype end)
{
    qsizetype begin = std::max<qsizetype>(0, end);
    while (begin > 0 && name[begin - 1] != u'.' && name[begin - 1] != u'/')
        --begin;
    return begin;
}

/// The number of the other side, which stands beside that of A or B; empty where none does.
QString partnerOf(const QModelIndex &index)
{
    const auto side = ThemeColor(index.data(ColorRole).toInt());
    const bool isA = side == ThemeColor::A;
    if (!isA && side != ThemeColor::B)
        return {};
    const QModelIndex other = index.siblingAtColumn(index.column() + (isA ? 1 : -1));
    const bool isPartner =
        ThemeColor(other.data(ColorRole).toInt()) == (isA ? ThemeColor::B : ThemeColor::A);
    return isPartner ? cellText(other.data().toString()) : QString();
}

/// What the style elides in the middle is shortened as a name is.
void elide(QStyleOptionViewItem &cell, const QModelIndex &index)
{
    if (cell.textElideMode != Qt::ElideMiddle || cell.text.contains(u' '))
        return;
    const QStyle *style = cell.widget ? cell.widget->style() : QApplication::style();
    const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, &cell, cell.widget) + 1;
    const QFontMetrics metrics(cell.font);
    const int width = cell.rect.width() - 2 * margin;
    cell.text = cell.displayAlignment & Qt::AlignRight
        ? elidedNumber(cell.text, partnerOf(index), metrics, width)
        : elidedName(cell.text, metrics, width);
}

} // namespace

QString elidedName(const QString &name, const QFontMetrics &metrics, int width)
{
    if (metrics.horizontalAdvance(name) <= width)
        return name;
    // Both of the last two parts if they fit, else the last one.
    const qsizetype last = partBefore(name, name.size());
    for (const qsizetype begin : {partBefore(name, last - 1), last}) {
        const QString tail = QChar(0x2026) + name.mid(begin);
        const int left = width - metrics.horizontalAdvance(tail);
        if (begin <= 0 || left < 0)
            continue;
        qsizetype head = std::min<qsizetype>(begin, left / 2); // no letter is as narrow
        while (head > 0 && metrics.horizontalAdvance(name.left(head)) > left)
            --head;
        return name.left(head) + tail;
    }
    return metrics.elidedText(name, Qt::ElideMiddle, width);
}

QString elidedNumber(const QString &number, const QString &other, const QFontMetrics &metrics,
                     int width)
{
    if (metrics.horizontalAdvance(number) <= width)
        return number;
    const QChar ellipsis(0x2026);
    constexpr int Sample = 100; // of which a digit's width is known in fractions of a pixel
    const int digits = std::max(1, metrics.horizontalAdvance(QString(Sample, u'0')));
    const qsizetype room = 1 + (width - metrics.horizontalAdvance(ellipsis)) * Sample / digits;
    const qsizetype exponent = number.indexOf(u'e');
    const QString tail = exponent < 0 ? QString() : number.mid(exponent);
    qsizetype same = 0;
    while (same < number.size() && same < other.size() && number[same] == other[same])
        ++same;
    const bool isApart = !other.isEmpty() && number != other;
    const qsizetype head = room - 1 - tail.size();
    if (head > 0 && (!isApart || same < head))
        return number.left(head) + ellipsis + tail;
    const qsizetype begin = std::min(same - 1, number.size() - (room - 2));
    const QString shown =
        ellipsis + number.mid(std::max<qsizetype>(1, begin), std::max<qsizetype>(1, room - 2));
    return begin + room - 2 < number.size() ? shown + ellipsis : shown;
}

void CellDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->text = cellText(option->text);
    const QColor color = colorFor(index, option->palette);
    const QVariant bar = index.data(BarRole);
    const bool colored = bar.toDouble() > 0; // the bar then, not the number
    for (auto role : {QPalette::Text, QPalette::HighlightedText})
        option->palette.setColor(role, colored ? Theme::of(option->palette).text : color);
    const bool right = option->displayAlignment & Qt::AlignRight;
    if (right || bar.isValid())
        option->font = monospaced(option->font);
}

void CellDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                         const QModelIndex &index) const
{
    const QVariant bar = index.data(BarRole);
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const QStyle *style = cell.widget ? cell.widget->style() : QApplication::style();
    if (!bar.isValid()) {
        elide(cell, index);
        style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);
        return;
    }
    const QString text = cell.text;
    cell.text.clear();
    style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);

    painter->save();
    const QRect inner = option.rect.adjusted(Margin, 0, -Margin, 0);
    const int textWidth = QFontMetrics(cell.font).horizontalAdvance(QStringLiteral("0.0e-000"));
    const bool right = cell.displayAlignment & Qt::AlignRight;
    const QRect barArea = inner.adjusted(0, 0, -textWidth - Margin, 0);
    const bool hasBar = barArea.width() > 8 && bar.toDouble() > 0;
    if (hasBar)
        paintBar(painter, barArea, bar.toDouble(), colorFor(index, option.palette));
    painter->setFont(cell.font);
    painter->setPen(cell.palette.color(QPalette::Text));
    const int barLength = std::max(2, int(bar.toDouble() * std::max(0, barArea.width())));
    const int left = right || !hasBar ? 0 : barLength + Margin;
    painter->drawText(inner.adjusted(left, 0, 0, 0), int(cell.displayAlignment), text);
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(rowHeight(option.font));
    if (index.data(BarRole).isValid())
        size.rwidth() += option.fontMetrics.averageCharWidth() * 8;
    return size;
}

} // namespace forkpoint
