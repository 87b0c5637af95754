// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/element_view.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/element_columns.h"
#include "widgets/views/saving.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace forkpoint {

using namespace element_columns;

namespace {

constexpr int ScrollRange = 1 << 30; ///< of a scroll bar that stands for 64-bit rows

} // namespace

ElementView::ElementView(ViewContext *context, QWidget *parent)
    : QAbstractScrollArea(parent),
      m_context(context),
      m_rows(new ElementRows(context, this)),
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
    connect(m_rows, &ElementRows::restarted, this, &ElementView::restart);
    connect(m_rows, &ElementRows::arrived, this, [this](const std::vector<ElementRow> &rows) {
        measure(rows);
        updateScrollBars();
        if (!rows.empty() || rowCount() == 0)
            fetchVisible();
        viewport()->update();
        Q_EMIT currentChanged();
    });
    connect(m_rows, &ElementRows::failed, viewport(), qOverload<>(&QWidget::update));
    connect(m_rows, &ElementRows::message, this, &ElementView::message);
    connect(m_rows, &ElementRows::collected, this, [this](const std::vector<ElementRow> &rows) {
        finishCopy(rows);
        fetchVisible();
    });
    connect(m_rows, &ElementRows::found, this, [this](std::optional<Index> index) {
        if (index)
            goToIndex(*index);
        else
            Q_EMIT message(tr("No further difference in that direction"));
    });
    restart(false);
}

/// Keeps place and column widths if it is still the same pair.
void ElementView::restart(bool samePair)
{
    if (!samePair) {
        m_widest = LeastCharacters;
        m_top = m_current = m_anchor = 0;
    }
    m_next->setEnabled(m_rows->anyDiffers());
    m_previous->setEnabled(m_next->isEnabled());
    updateScrollBars();
    fetchVisible();
    viewport()->update();
    Q_EMIT filterChanged();
    Q_EMIT currentChanged();
}

void ElementView::setOrder(ElementOrder order)
{
    if (order == m_rows->order())
        return;
    m_rows->setOrder(order);
    Q_EMIT orderChanged(order);
}

void ElementView::setFilter(const ElementFilter &filter)
{
    m_rows->setFilter(filter);
}

void ElementView::setFormat(ValueFormat format, BitsOf bits)
{
    m_format = format;
    m_bits = bits;
    m_widest = LeastCharacters;
    for (std::uint64_t row = m_top; row < m_top + std::uint64_t(rowsInView()) + 1; ++row) {
        if (const ElementRow *known = m_rows->at(row))
            measure({*known});
    }
    updateScrollBars();
    viewport()->update();
}

std::optional<Index> ElementView::currentIndex() const
{
    const ElementRow *row = m_rows->at(m_current);
    return row ? std::optional<Index>(row->index) : std::nullopt;
}

std::optional<double> ElementView::currentDifference() const
{
    const ElementRow *row = m_rows->at(m_current);
    const auto *real = row ? std::get_if<double>(&row->difference.real) : nullptr;
    return real && std::isfinite(*real) ? std::optional<double>(*real) : std::nullopt;
}

void ElementView::fetchVisible()
{
    m_rows->need(m_top, m_top + std::uint64_t(rowsInView()));
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

// --- moving -----------------------------------------------------------------------------------

void ElementView::goToIndex(Index index)
{
    if (m_rows->elements() == 0)
        return;
    setFilter({});
    setOrder(ElementOrder::ByIndex);
    const std::uint64_t row = std::min<std::uint64_t>(index, m_rows->elements() - 1);
    setTop(row > 3 ? row - 3 : 0);
    setCurrentRow(row);
}

void ElementView::goToFirstDifference()
{
    if (m_rows->rowsAreIndices())
        m_rows->findDifference(0, false);
    else
        setCurrentRow(0);
}

void ElementView::jump(bool backward)
{
    if (m_rows->rowsAreIndices())
        m_rows->findDifference(backward ? m_current : m_current + 1, backward);
    else if (backward && m_current > 0) // every row differs, or was filtered for
        setCurrentRow(m_current - 1);
    else if (!backward && m_current + 1 < rowCount())
        setCurrentRow(m_current + 1);
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
    Q_EMIT currentChanged();
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
    const DType &dtype = m_rows->dtype();
    if (const std::optional<Side> side = m_rows->onlySide()) {
        const QString none = QStringLiteral("–");
        const QString value = elementText(dtype, row.a, row.bitsA, m_format);
        return {indexText(row.index, m_rows->shape()),
                side == Side::A ? value : none,
                side == Side::B ? value : none,
                none,
                none,
                bitsText(dtype, row, BitsOf::A)};
    }
    return {indexText(row.index, m_rows->shape()),
            elementText(dtype, row.a, row.bitsA, m_format),
            elementText(dtype, row.b, row.bitsB, m_format),
            differenceText(row),
            row.ulp ? QString::number(*row.ulp) : QStringLiteral("–"),
            bitsText(dtype, row, m_bits)};
}

QStringList ElementView::rowTexts(std::uint64_t row) const
{
    if (const ElementRow *known = m_rows->at(row))
        return texts(*known);
    const QString error = m_rows->errorOf(row);
    return {error.isEmpty() ? tr("loading…") : tr("not read: %1").arg(error)};
}

void ElementView::copy()
{
    if (rowCount() == 0)
        return;
    m_saveTo.clear();
    const std::uint64_t first = std::min(m_anchor, m_current);
    m_rows->collect(first, std::min(std::max(m_anchor, m_current) - first + 1, MaximumCopy));
}

void ElementView::finishCopy(const std::vector<ElementRow> &rows)
{
    std::vector<QStringList> lines{
        {tr("flat index"), tr("index"), tr("A"), tr("B"), tr("B-A"), tr("ULP"), bitsTitle()}};
    for (const ElementRow &row : rows)
        lines.push_back(QStringList(QString::number(row.index)) + texts(row));
    QString text;
    for (QStringList &cells : lines) {
        if (!m_saveTo.isEmpty())
            std::transform(cells.begin(), cells.end(), cells.begin(), csvCell);
        text += cells.join(m_saveTo.isEmpty() ? u'\t' : u',') + u'\n';
    }
    if (!m_saveTo.isEmpty()) {
        m_context->saveFile(m_saveTo, text.toUtf8());
        return;
    }
    QGuiApplication::clipboard()->setText(text);
    Q_EMIT message(tr("Copied %1").arg(countedText(rows.size(), "row", "rows")));
}

/// The selected rows, or, where it is one alone, all from the first on.
void ElementView::askToSaveRows()
{
    const TensorRow *tensor = m_rows->tensor();
    if (!tensor || rowCount() == 0)
        return;
    const auto [low, high] = std::minmax(m_anchor, m_current);
    const std::uint64_t first = low == high ? 0 : low;
    const std::uint64_t wanted = low == high ? rowCount() : high - low + 1;
    const std::uint64_t count = std::min(wanted, MaximumCopy);
    const auto save = [this, first, count, wanted](const QString &path) {
        m_saveTo = path;
        if (count < wanted)
            Q_EMIT message(tr("The first %1 of %2 rows are saved; forkpoint-cli elements lists all")
                               .arg(groupedText(count), groupedText(wanted)));
        m_rows->collect(first, count);
    };
    askWhereToSave(m_context, this, tr("Save elements"),
                   QStringLiteral("elements-") + displayText(tensor->name),
                   {{QStringLiteral("CSV"), QStringLiteral("csv")}}, save);
}

void ElementView::copyValue(const ElementRow &row)
{
    const QStringList cells = texts(row);
    QGuiApplication::clipboard()->setText(cells[AColumn] + u'\t' + cells[BColumn]);
    Q_EMIT message(tr("Copied the values of A and B"));
}

void ElementView::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(m_copy);
    connect(menu->addAction(tr("Save rows as CSV…")), &QAction::triggered, this,
            &ElementView::askToSaveRows);
    if (const ElementRow *row = m_rows->at(m_current)) {
        const QString index = indexText(row->index, m_rows->shape());
        connect(menu->addAction(tr("Copy values of A and B")), &QAction::triggered, this,
                [this, row = *row] { copyValue(row); });
        connect(menu->addAction(tr("Copy index %1").arg(index)), &QAction::triggered, this,
                [index] { QGuiApplication::clipboard()->setText(index); });
    }
    if (const TensorRow *tensor = m_rows->tensor()) {
        connect(menu->addAction(tr("Copy forkpoint-cli command")), &QAction::triggered, this,
                [this, name = tensor->name] {
                    QGuiApplication::clipboard()->setText(
                        m_context->elementsCommand(name, order()));
                });
    }
    menu->addSeparator();
    menu->addActions({m_next, m_previous});
    menu->popup(event->globalPos());
}

} // namespace forkpoint
