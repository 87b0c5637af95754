// SPDX-License-Identifier: GPL-3.0-or-later
// How the element table looks.
#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/element_columns.h"
#include "widgets/views/element_view.h"

#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace forkpoint {

QString element_columns::indexText(Index index, const Shape &shape)
{
    if (shape.rank() <= 1)
        return QStringLiteral("[%1]").arg(index);
    QStringList parts;
    for (Index coordinate : coordinatesOf(index, shape))
        parts += QString::number(coordinate);
    return QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
}

using namespace element_columns;

namespace {

int digitsOf(const Shape &shape, Index elements)
{
    if (shape.rank() <= 1)
        return int(QString::number(elements).size()) + 2;
    int digits = 2;
    for (Index dim : shape.dims)
        digits += int(QString::number(dim).size()) + 2;
    return digits;
}

QFont bitsFont(const QFont &base)
{
    QFont font = monospaced(base);
    if (font.pointSizeF() > 0)
        font.setPointSizeF(font.pointSizeF() * 0.8);
    return font;
}

} // namespace

std::vector<int> ElementView::columnWidths() const
{
    const int character = QFontMetrics(monospaced(font())).horizontalAdvance(u'0');
    const int small = QFontMetrics(bitsFont(font())).horizontalAdvance(u'0');
    std::vector<int> widths(Columns);
    widths[IndexColumn] =
        std::max(6, digitsOf(m_rows->shape(), m_rows->elements())) * character + Margin;
    for (int column = AColumn; column <= UlpColumn; ++column)
        widths[std::size_t(column)] = m_widest[std::size_t(column)] * character + 2 * Margin;
    widths[BitsColumn] = int(m_rows->dtype().bits + 4) * small + 2 * Margin;
    return widths;
}

QString ElementView::bitsTitle() const
{
    if (const std::optional<Side> side = m_rows->onlySide())
        return side == Side::A ? tr("bits of A") : tr("bits of B");
    return m_bits == BitsOf::A ? tr("bits of A")
        : m_bits == BitsOf::B  ? tr("bits of B")
                               : tr("A xor B");
}

QString ElementView::emptyText() const
{
    const TensorRow *row = m_rows->tensor();
    if (!row)
        return tr("Select a tensor to see its elements.");
    if (const QString error = m_rows->errorOfAll(); !error.isEmpty())
        return tr("Not read: %1").arg(error);
    if (m_rows->count() > 0)
        return tr("Reading the elements…");
    if (m_context->isReport())
        return tr("A report keeps no elements: open the two paths that it names.");
    if (m_rows->elements() == 0 && row->elements > 0)
        return tr("Elements have no counterpart: %1.").arg(displayText(row->reason));
    if (m_rows->elements() == 0)
        return tr("The tensor has no elements.");
    return filter().isEmpty() ? tr("No element differs. In the order by index all are listed.")
                              : tr("No element of this order is in the selected part.");
}

void ElementView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    const Theme theme = Theme::of(palette());
    const std::vector<int> widths = columnWidths();
    paintHeader(painter, widths);
    const std::uint64_t rows = rowCount();
    if (rows == 0 || m_rows->hasNone()) {
        painter.setPen(theme.muted);
        painter.drawText(viewport()->rect().adjusted(24, rowPixels(), -24, 0),
                         int(Qt::AlignCenter | Qt::TextWordWrap), emptyText());
        return;
    }
    int y = rowPixels();
    for (std::uint64_t row = m_top; row < rows && y < viewport()->height(); ++row) {
        paintRow(painter, row, y, widths);
        y += rowPixels();
    }
    if (m_rows->capped() && y < viewport()->height()) {
        painter.setPen(theme.muted);
        painter.drawText(QRect(Margin, y, viewport()->width(), rowPixels()), Qt::AlignVCenter,
                         tr("… the largest 1,000,000; use another order for the rest"));
    }
}

void ElementView::paintHeader(QPainter &painter, const std::vector<int> &widths) const
{
    const Theme theme = Theme::of(palette());
    painter.fillRect(0, 0, viewport()->width(), rowPixels(), theme.header);
    const QStringList titles{
        tr("index"),
        tr("A"),
        tr("B"),
        tr("B−A"),
        tr("ULP"),
        m_rows->isOneSided() ? bitsTitle() : bitsTitle() + tr(", changed ones marked")};
    int x = -horizontalScrollBar()->value();
    for (int column = 0; column < Columns; ++column) {
        const int width =
            column == BitsColumn ? std::max(widths[BitsColumn], 260) : widths[std::size_t(column)];
        const bool left = column == IndexColumn || column == BitsColumn;
        painter.setPen(column == AColumn ? theme.a : column == BColumn ? theme.b : theme.muted);
        painter.drawText(
            QRect(x + Margin, 0, width - 2 * Margin + (left ? Margin : 0), rowPixels()),
            int((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter), titles[column]);
        x += widths[std::size_t(column)];
    }
    painter.setPen(theme.border);
    painter.drawLine(0, rowPixels() - 1, viewport()->width(), rowPixels() - 1);
}

void ElementView::paintRow(QPainter &painter, std::uint64_t row, int y,
                           const std::vector<int> &widths) const
{
    const Theme theme = Theme::of(palette());
    const QRect line(0, y, viewport()->width(), rowPixels());
    if (row >= std::min(m_anchor, m_current) && row <= std::max(m_anchor, m_current))
        painter.fillRect(line, theme.selection);
    const ElementRow *known = m_rows->at(row);
    if (!known) {
        painter.setFont(font());
        painter.setPen(theme.muted);
        painter.drawText(line.adjusted(Margin, 0, 0, 0), Qt::AlignVCenter, rowTexts(row).first());
        return;
    }
    const QStringList cells = texts(*known);
    const QColor value = known->differs ? theme.difference : theme.muted;
    const bool isTold = known->differs || m_rows->isOneSided();
    const QColor colors[] = {theme.text, isTold ? theme.a : theme.muted,
                             isTold ? theme.b : theme.muted, value, theme.text};
    painter.setFont(monospaced(font()));
    int x = -horizontalScrollBar()->value();
    for (int column = 0; column < BitsColumn; ++column) {
        const int width = widths[std::size_t(column)];
        const int side = column == IndexColumn ? int(Qt::AlignLeft) : int(Qt::AlignRight);
        painter.setPen(colors[column]);
        painter.drawText(
            QRect(side == Qt::AlignLeft ? x + Margin : x, y, width - Margin, rowPixels()),
            side | int(Qt::AlignVCenter), cells[column]);
        x += width;
    }
    paintBits(painter, QRect(x + Margin, y, widths[BitsColumn], rowPixels()), *known);
}

void ElementView::paintBits(QPainter &painter, const QRect &cell, const ElementRow &row) const
{
    const Theme theme = Theme::of(palette());
    const QString a = bitsText(m_rows->dtype(), row, BitsOf::A);
    const QString b = bitsText(m_rows->dtype(), row, BitsOf::B);
    const QString shown = bitsText(m_rows->dtype(), row, m_rows->isOneSided() ? BitsOf::A : m_bits);
    QFont plain = bitsFont(font()), changed = plain;
    changed.setBold(true);
    const int advance = QFontMetrics(plain).horizontalAdvance(u'0');
    for (qsizetype begin = 0; begin < b.size();) {
        const auto differs = [&](qsizetype i) { return i >= a.size() || a[i] != b[i]; };
        qsizetype end = begin + 1;
        while (end < b.size() && differs(end) == differs(begin))
            ++end;
        painter.setFont(differs(begin) ? changed : plain);
        painter.setPen(differs(begin) ? theme.difference : theme.muted);
        painter.drawText(cell.adjusted(int(begin) * advance, 0, 0, 0),
                         int(Qt::AlignLeft | Qt::AlignVCenter), shown.mid(begin, end - begin));
        begin = end;
    }
}

} // namespace forkpoint
