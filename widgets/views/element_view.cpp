// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/element_view.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

enum Column { IndexColumn, AColumn, BColumn, DifferenceColumn, UlpColumn, BitsColumn, Columns };

/// Of A, B, the difference and the ULP, before any row is known.
constexpr std::array<int, 5> LeastCharacters{0, 10, 10, 10, 5};

constexpr int Margin = 6;
constexpr int ScrollRange = 1 << 30; ///< of a scroll bar that stands for 64-bit rows

QString indexText(Index index, const Shape &shape)
{
    if (shape.rank() <= 1)
        return QStringLiteral("[%1]").arg(index);
    QStringList parts;
    for (Index coordinate : coordinatesOf(index, shape))
        parts += QString::number(coordinate);
    return QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
}

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

ElementView::ElementView(ViewContext *context, QWidget *parent)
    : QAbstractScrollArea(parent),
      m_context(context),
      m_next(makeAction(this, tr("Next differing element"), Qt::Key_F7)),
      m_previous(makeAction(this, tr("Previous differing element"), Qt::SHIFT | Qt::Key_F7)),
      m_copy(new QAction(tr("Copy rows"), this))
{
    setObjectName(QStringLiteral("elementView"));
    setAccessibleName(tr("Elements"));
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    m_copy->setShortcut(QKeySequence::Copy);
    m_copy->setShortcutContext(Qt::WidgetShortcut);
    addAction(m_copy);
    connect(m_next, &QAction::triggered, this, [this] { jump(false); });
    connect(m_previous, &QAction::triggered, this, [this] { jump(true); });
    connect(m_copy, &QAction::triggered, this, [this] { copy(); });
    connect(context, &ViewContext::elementsReady, this, &ElementView::receive);
    connect(context, &ViewContext::elementsFailed, this, &ElementView::fail);
    connect(context, &ViewContext::nextDifferenceReady, this, &ElementView::land);
    connect(context, &ViewContext::selectedTensorChanged, this, [this] { restart(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { restart(); });
    connect(context, &ViewContext::selectedStatsChanged, this, [this] { restart(); });
    restart();
}

const TensorRow *ElementView::tensor() const
{
    if (!m_comparison || !m_tensor || *m_tensor >= m_comparison->tensors.size())
        return nullptr;
    return &m_comparison->tensors[*m_tensor];
}

/// Looks at the selected tensor anew; keeps place and rows if it is still the same pair.
void ElementView::restart()
{
    const Step step = m_context->selectedStep().value_or(-1);
    m_comparison = m_context->stepComparison();
    m_tensor = m_context->selectedTensor();
    const TensorRow *row = tensor();
    const QString name =
        row ? QStringLiteral("%1/%2").arg(step).arg(displayText(row->name)) : QString();
    const bool readable =
        row && row->a && row->b && row->dtypeA == row->dtypeB && row->shapeA == row->shapeB;
    const bool same = name == m_tensorName && (m_elements > 0) == readable;
    m_differing.reset();
    if (row && row->status == ItemStatus::Identical)
        m_differing = 0;
    if (row && row->stats)
        m_differing = row->stats->differentElements;
    if (!same) {
        m_tensorName = name;
        m_dtype = row ? row->dtypeA : DType();
        m_shape = row ? row->shapeA : forkpoint::Shape();
        m_elements = readable ? row->elements : 0;
        m_pages.clear();
        m_widest = LeastCharacters;
        m_end.reset();
        m_error.clear();
        m_failedCount = 0;
        m_pendingId = m_jumpId = m_copyId = 0;
        m_top = m_current = m_anchor = 0;
    }
    m_next->setEnabled(m_elements > 0 && m_differing.value_or(1) > 0);
    m_previous->setEnabled(m_next->isEnabled());
    updateScrollBars();
    fetchVisible();
    viewport()->update();
}

void ElementView::setOrder(ElementOrder order)
{
    if (order == m_order)
        return;
    m_order = order;
    m_tensorName.clear();
    restart();
    Q_EMIT orderChanged(order);
}

std::uint64_t ElementView::rowCount() const
{
    if (m_elements == 0)
        return 0;
    if (m_order == ElementOrder::ByIndex)
        return m_elements;
    if (m_end)
        return *m_end;
    std::uint64_t rows = m_differing.value_or(PageRows);
    if (m_order == ElementOrder::Largest)
        rows = std::min<std::uint64_t>(rows, MaxElementRows);
    return rows;
}

// --- data -------------------------------------------------------------------------------------

const ElementRow *ElementView::rowAt(std::uint64_t row) const
{
    const auto page = m_pages.find(row / PageRows);
    if (page == m_pages.end() || row % PageRows >= page->second.size())
        return nullptr;
    return &page->second[row % PageRows];
}

void ElementView::fetchVisible()
{
    const std::uint64_t rows = rowCount();
    if (rows == 0)
        return;
    const std::uint64_t last = std::min(rows - 1, m_top + std::uint64_t(rowsInView()));
    std::uint64_t first = m_top / PageRows, end = last / PageRows;
    while (first <= end && m_pages.contains(first))
        ++first;
    while (end > first && m_pages.contains(end))
        --end;
    if (first > end || m_pages.contains(first))
        return;
    const std::uint64_t offset = first * PageRows;
    const std::uint64_t count = std::min((end + 1) * PageRows, rows) - offset;
    const bool pending = m_pendingId != 0 && m_pendingOffset == offset && m_pendingCount == count;
    const bool failed = m_failedCount > 0 && m_failedOffset == offset;
    if (pending || failed || m_copyId != 0)
        return;
    request(offset, count);
}

void ElementView::request(std::uint64_t offset, std::uint64_t count)
{
    m_pendingId = m_nextId++;
    m_pendingOffset = offset;
    m_pendingCount = count;
    ElementRequest request;
    request.id = m_pendingId;
    request.row = *m_tensor;
    request.query = {m_order, offset, std::size_t(count)};
    m_context->requestElements(request);
}

void ElementView::receive(quint64 id, const std::shared_ptr<const ElementPage> &page)
{
    if (id != 0 && id == m_copyId) {
        m_copyId = 0;
        finishCopy(page->rows);
        fetchVisible();
        return;
    }
    if (id == 0 || id != m_pendingId)
        return; // of a tensor or an order that is gone
    m_pendingId = 0;
    if (m_pages.size() > MaximumPages)
        m_pages.clear();
    const auto &rows = page->rows;
    for (std::size_t begin = 0; begin < rows.size(); begin += PageRows) {
        const std::size_t end = std::min(rows.size(), begin + PageRows);
        m_pages[(m_pendingOffset + begin) / PageRows] = {rows.begin() + std::ptrdiff_t(begin),
                                                         rows.begin() + std::ptrdiff_t(end)};
    }
    measure(rows);
    if (m_order != ElementOrder::ByIndex && page->complete)
        m_end = m_pendingOffset + rows.size();
    else if (m_order != ElementOrder::ByIndex && page->differentElements > 0)
        m_differing = page->differentElements;
    m_failedCount = 0;
    updateScrollBars();
    if (!rows.empty() || m_end)
        fetchVisible();
    viewport()->update();
}

/// Columns only ever grow while one tensor is shown: nothing is clipped, and nothing flickers.
void ElementView::measure(const std::vector<ElementRow> &rows)
{
    for (const ElementRow &row : rows) {
        const QStringList cells = texts(row);
        for (int column = AColumn; column <= UlpColumn; ++column) {
            int &widest = m_widest[std::size_t(column)];
            widest = std::max(widest, int(cells[column].size()));
        }
    }
}

void ElementView::fail(quint64 id, const QString &error)
{
    if (id != 0 && id == m_copyId) {
        m_copyId = 0;
        Q_EMIT message(tr("Not copied: %1").arg(displayText(error)));
        return;
    }
    if (id == 0 || id != m_pendingId)
        return;
    m_pendingId = 0;
    m_failedOffset = m_pendingOffset;
    m_failedCount = m_pendingCount;
    m_error = displayText(error);
    viewport()->update();
}

// --- moving -----------------------------------------------------------------------------------

void ElementView::goToIndex(Index index)
{
    if (m_elements == 0)
        return;
    setOrder(ElementOrder::ByIndex);
    const std::uint64_t row = std::min<std::uint64_t>(index, m_elements - 1);
    setTop(row > 3 ? row - 3 : 0);
    setCurrentRow(row);
}

void ElementView::goToFirstDifference()
{
    if (m_order != ElementOrder::ByIndex) {
        setCurrentRow(0);
        return;
    }
    m_jumpId = m_nextId++;
    m_context->requestNextDifference(m_jumpId, 0, false);
}

void ElementView::jump(bool backward)
{
    if (m_order != ElementOrder::ByIndex) { // every row differs
        const std::uint64_t rows = rowCount();
        if (backward && m_current > 0)
            setCurrentRow(m_current - 1);
        else if (!backward && m_current + 1 < rows)
            setCurrentRow(m_current + 1);
        return;
    }
    m_jumpId = m_nextId++;
    m_context->requestNextDifference(m_jumpId, backward ? m_current : m_current + 1, backward);
}

void ElementView::land(quint64 id, std::optional<Index> index)
{
    if (id == 0 || id != m_jumpId)
        return;
    m_jumpId = 0;
    if (index)
        goToIndex(*index);
    else
        Q_EMIT message(tr("No further difference in that direction"));
}

void ElementView::setCurrentRow(std::uint64_t row, bool extend)
{
    const std::uint64_t rows = rowCount();
    if (rows == 0)
        return;
    m_current = std::min(row, rows - 1);
    if (!extend)
        m_anchor = m_current;
    const auto whole = std::uint64_t(std::max(1, rowsInView()));
    if (m_current < m_top)
        setTop(m_current);
    else if (m_current >= m_top + whole)
        setTop(m_current - whole + 1);
    viewport()->update();
}

void ElementView::keyPressEvent(QKeyEvent *event)
{
    const bool extend = event->modifiers() & Qt::ShiftModifier;
    const auto page = std::uint64_t(std::max(1, rowsInView() - 1));
    switch (event->key()) {
    case Qt::Key_Up: setCurrentRow(m_current > 0 ? m_current - 1 : 0, extend); break;
    case Qt::Key_Down: setCurrentRow(m_current + 1, extend); break;
    case Qt::Key_PageUp: setCurrentRow(m_current > page ? m_current - page : 0, extend); break;
    case Qt::Key_PageDown: setCurrentRow(m_current + page, extend); break;
    case Qt::Key_Home: setCurrentRow(0, extend); break;
    case Qt::Key_End: setCurrentRow(rowCount(), extend); break;
    default: QAbstractScrollArea::keyPressEvent(event);
    }
}

void ElementView::mousePressEvent(QMouseEvent *event)
{
    if (event->pos().y() >= rowPixels() && event->button() == Qt::LeftButton)
        setCurrentRow(rowAtY(event->pos().y()), event->modifiers() & Qt::ShiftModifier);
}

void ElementView::mouseMoveEvent(QMouseEvent *event)
{
    if (event->buttons() & Qt::LeftButton)
        setCurrentRow(rowAtY(std::max(event->pos().y(), rowPixels())), true);
}

void ElementView::wheelEvent(QWheelEvent *event)
{
    constexpr int Notch = 120, RowsANotch = 3;
    const int rows = event->angleDelta().y() * RowsANotch / Notch;
    if (rows > 0)
        setTop(m_top > std::uint64_t(rows) ? m_top - std::uint64_t(rows) : 0);
    else
        setTop(m_top + std::uint64_t(-rows));
    event->accept();
}

std::uint64_t ElementView::rowAtY(int y) const
{
    return m_top + std::uint64_t(std::max(0, y - rowPixels()) / rowPixels());
}

int ElementView::rowPixels() const
{
    return rowHeight(font());
}

int ElementView::rowsInView() const
{
    return std::max(0, viewport()->height() / rowPixels() - 1);
}

void ElementView::setTop(std::uint64_t top)
{
    const std::uint64_t rows = rowCount();
    const auto page = std::uint64_t(rowsInView());
    m_top = std::min(top, rows > page ? rows - page : 0);
    updateScrollBars();
    fetchVisible();
    viewport()->update();
}

/// The bar counts rows while they fit an int, else shares of the whole; m_top alone is exact.
void ElementView::updateScrollBars()
{
    const std::uint64_t rows = rowCount();
    const auto page = std::uint64_t(rowsInView());
    const std::uint64_t steps = rows > page ? rows - page : 0;
    m_top = std::min(m_top, steps);
    m_scrolling = true;
    QScrollBar *bar = verticalScrollBar();
    if (steps <= std::uint64_t(ScrollRange)) {
        bar->setRange(0, int(steps));
        bar->setValue(int(m_top));
    } else {
        bar->setRange(0, ScrollRange);
        bar->setValue(int(std::llround(double(m_top) / double(steps) * ScrollRange)));
    }
    bar->setPageStep(std::max(1, int(page)));
    const std::vector<int> widths = columnWidths();
    int total = 0;
    for (int width : widths)
        total += width;
    horizontalScrollBar()->setRange(0, std::max(0, total - viewport()->width()));
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(fontMetrics().averageCharWidth() * 3);
    m_scrolling = false;
}

void ElementView::scrollContentsBy(int, int dy)
{
    if (!m_scrolling && dy != 0) {
        const std::uint64_t rows = rowCount();
        const auto page = std::uint64_t(rowsInView());
        const std::uint64_t steps = rows > page ? rows - page : 0;
        const int value = verticalScrollBar()->value();
        if (steps <= std::uint64_t(ScrollRange))
            m_top = std::uint64_t(value);
        else
            m_top = value >= ScrollRange
                ? steps
                : std::min(steps, std::uint64_t(double(value) / ScrollRange * double(steps)));
        fetchVisible();
    }
    viewport()->update();
}

void ElementView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBars();
    fetchVisible();
}

void ElementView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        updateScrollBars();
        fetchVisible();
    }
}

// --- text and copying -------------------------------------------------------------------------

QStringList ElementView::texts(const ElementRow &row) const
{
    return {indexText(row.index, m_shape),
            elementText(m_dtype, row.a, row.bitsA),
            elementText(m_dtype, row.b, row.bitsB),
            differenceText(row),
            row.ulp ? QString::number(*row.ulp) : QStringLiteral("–"),
            qs(bitsToBinary(m_dtype, row.bitsB))};
}

QStringList ElementView::rowTexts(std::uint64_t row) const
{
    if (const ElementRow *known = rowAt(row))
        return texts(*known);
    if (m_failedCount > 0 && row >= m_failedOffset && row < m_failedOffset + m_failedCount)
        return {tr("not read: %1").arg(m_error)};
    return {tr("loading…")};
}

void ElementView::copy()
{
    if (rowCount() == 0)
        return;
    const std::uint64_t first = std::min(m_anchor, m_current);
    const std::uint64_t count = std::min(std::max(m_anchor, m_current) - first + 1, MaximumCopy);
    std::vector<ElementRow> rows;
    for (std::uint64_t row = first; row < first + count; ++row) {
        const ElementRow *known = rowAt(row);
        if (!known)
            break;
        rows.push_back(*known);
    }
    if (rows.size() == count) {
        finishCopy(rows);
        return;
    }
    ElementRequest request; // some rows were never in view
    request.id = m_copyId = m_nextId++;
    request.row = *m_tensor;
    request.query = {m_order, first, std::size_t(count)};
    m_pendingId = 0; // the newer request drops the one for the view; it is asked for again
    m_context->requestElements(request);
}

void ElementView::finishCopy(const std::vector<ElementRow> &rows)
{
    QStringList lines{tr("flat index\tindex\tA\tB\tB-A\tULP\tbits of B")};
    for (const ElementRow &row : rows)
        lines += QString::number(row.index) + u'\t' + texts(row).join(u'\t');
    QGuiApplication::clipboard()->setText(lines.join(u'\n') + u'\n');
    Q_EMIT message(tr("Copied %1").arg(countedText(rows.size(), "row", "rows")));
}

void ElementView::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(m_copy);
    menu->addSeparator();
    menu->addAction(m_next);
    menu->addAction(m_previous);
    menu->popup(event->globalPos());
}

// --- painting ---------------------------------------------------------------------------------

std::vector<int> ElementView::columnWidths() const
{
    const int character = QFontMetrics(monospaced(font())).horizontalAdvance(u'0');
    const int small = QFontMetrics(bitsFont(font())).horizontalAdvance(u'0');
    std::vector<int> widths(Columns);
    widths[IndexColumn] = std::max(6, digitsOf(m_shape, m_elements)) * character + Margin;
    for (int column = AColumn; column <= UlpColumn; ++column)
        widths[std::size_t(column)] = m_widest[std::size_t(column)] * character + 2 * Margin;
    widths[BitsColumn] = int(m_dtype.bits + 4) * small + 2 * Margin;
    return widths;
}

QString ElementView::emptyText() const
{
    const TensorRow *row = tensor();
    if (!row)
        return tr("Select a tensor to see its elements.");
    if (!row->a || !row->b)
        return row->a ? tr("Only A has this tensor.") : tr("Only B has this tensor.");
    if (m_elements == 0 && row->elements > 0)
        return tr("Elements have no counterpart: %1.").arg(displayText(row->reason));
    if (m_elements == 0)
        return tr("The tensor has no elements.");
    return tr("No element differs.");
}

void ElementView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    const Theme theme = Theme::of(palette());
    const std::vector<int> widths = columnWidths();
    paintHeader(painter, widths);
    const std::uint64_t rows = rowCount();
    if (rows == 0) {
        painter.setPen(theme.muted);
        painter.drawText(viewport()->rect(), int(Qt::AlignCenter | Qt::TextWordWrap), emptyText());
        return;
    }
    int y = rowPixels();
    for (std::uint64_t row = m_top; row < rows && y < viewport()->height(); ++row) {
        paintRow(painter, row, y, widths);
        y += rowPixels();
    }
    const bool capped = m_order == ElementOrder::Largest && rows == MaxElementRows;
    if (capped && y < viewport()->height()) {
        painter.setPen(theme.muted);
        painter.drawText(QRect(Margin, y, viewport()->width(), rowPixels()), Qt::AlignVCenter,
                         tr("… the largest 1,000,000; use another order for the rest"));
    }
}

void ElementView::paintHeader(QPainter &painter, const std::vector<int> &widths) const
{
    const Theme theme = Theme::of(palette());
    painter.fillRect(0, 0, viewport()->width(), rowPixels(), theme.header);
    const QStringList titles{tr("index"), tr("A"),   tr("B"),
                             tr("B−A"),   tr("ULP"), tr("bits of B, changed ones marked")};
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
    const ElementRow *known = rowAt(row);
    if (!known) {
        painter.setFont(font());
        painter.setPen(theme.muted);
        painter.drawText(line.adjusted(Margin, 0, 0, 0), Qt::AlignVCenter, rowTexts(row).first());
        return;
    }
    const QStringList cells = texts(*known);
    const QColor value = known->differs ? theme.difference : theme.muted;
    const QColor colors[] = {theme.text, known->differs ? theme.a : theme.muted,
                             known->differs ? theme.b : theme.muted, value, theme.text};
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
    const QString a = qs(bitsToBinary(m_dtype, row.bitsA));
    const QString b = qs(bitsToBinary(m_dtype, row.bitsB));
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
                         int(Qt::AlignLeft | Qt::AlignVCenter), b.mid(begin, end - begin));
        begin = end;
    }
}

} // namespace forkpoint
