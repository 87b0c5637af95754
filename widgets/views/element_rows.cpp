// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/element_rows.h"

#include "widgets/display_text.h"
#include "widgets/views/shown_subject.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Of one side alone both are that side's.
std::vector<ElementRow> withBitsOfBoth(std::vector<ElementRow> rows)
{
    for (ElementRow &row : rows) {
        if (row.bitsA.empty())
            row.bitsA = row.bitsB;
        else if (row.bitsB.empty())
            row.bitsB = row.bitsA;
    }
    return rows;
}

} // namespace

ElementRows::ElementRows(ViewContext *context, QObject *parent)
    : QObject(parent),
      m_context(context)
{
    connect(context, &ViewContext::elementsReady, this, &ElementRows::receive);
    connect(context, &ViewContext::requestFailed, this, &ElementRows::fail);
    connect(context, &ViewContext::nextDifferenceReady, this,
            [this](quint64 id, std::optional<Index> index) {
                if (id != m_findId)
                    return;
                m_findId = 0;
                Q_EMIT found(index);
            });
    connect(context, &ViewContext::selectedTensorChanged, this, [this] { restart(false); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { restart(false); });
    connect(context, &ViewContext::selectedStatsChanged, this, [this] { restart(false); });
    restart(true);
}

const TensorRow *ElementRows::tensor() const
{
    if (!m_comparison || !m_tensor || *m_tensor >= m_comparison->tensors.size())
        return nullptr;
    return &m_comparison->tensors[*m_tensor];
}

std::optional<Side> ElementRows::onlySide() const
{
    const TensorRow *row = tensor();
    if (row && forkpoint::isOneSided(*row))
        return row->a ? Side::A : Side::B;
    return row ? m_readSide : std::nullopt;
}

/// Looks at the selected tensor anew; keeps its pages if it is still the same pair.
void ElementRows::restart(bool forget)
{
    const Step step = m_context->selectedStep().value_or(-1);
    m_comparison = m_context->stepComparison();
    m_tensor = m_context->selectedTensor();
    const TensorRow *row = tensor();
    const QString pair = row ? shownSubject(step, *row) : QString();
    const bool readable =
        row && (hasElementPairs(*row) || forkpoint::isOneSided(*row)) && !m_context->isReport();
    const bool samePair = pair == m_pair && (m_elements > 0) == readable;
    const bool hadNoDifference = hasNoDifference();
    if (!samePair)
        m_readSide.reset();
    m_differing.reset();
    if (row && (row->status == ItemStatus::Identical || forkpoint::isOneSided(*row)))
        m_differing = 0;
    if (row && row->stats)
        m_differing = row->stats->differentElements;
    forget = forget || hadNoDifference != hasNoDifference(); // another order
    if (!samePair) {
        m_pair = pair;
        m_filter = {}; // it was of the other tensor's places and magnitudes
        m_dtype = row ? shownType(*row) : DType();
        m_elements = readable ? row->elements : 0;
        m_shape = row ? elementShape(shownShape(*row), row->elements) : forkpoint::Shape();
    }
    if (forget || !samePair) {
        m_readSide.reset();
        m_pages.clear();
        m_end.reset();
        m_accepted.reset();
        m_error.clear();
        m_failedCount = 0;
        m_pendingId = m_findId = m_collectId = 0;
    }
    Q_EMIT restarted(samePair && !forget);
}

void ElementRows::setOrder(ElementOrder order)
{
    if (order == m_order)
        return;
    m_order = order;
    restart(true);
}

void ElementRows::setFilter(const ElementFilter &filter)
{
    if (filter == m_filter)
        return;
    m_filter = filter;
    restart(true);
}

std::uint64_t ElementRows::count() const
{
    if (m_elements == 0)
        return 0;
    if (rowsAreIndices())
        return m_elements;
    if (m_end)
        return *m_end;
    const std::optional<Index> known = m_filter.isEmpty() ? m_differing : m_accepted;
    const std::uint64_t rows = known.value_or(std::min<Index>(PageRows, m_elements));
    return order() == ElementOrder::Largest ? std::min<std::uint64_t>(rows, MaxElementRows) : rows;
}

bool ElementRows::capped() const
{
    return order() == ElementOrder::Largest && count() == MaxElementRows;
}

const ElementRow *ElementRows::at(std::uint64_t row) const
{
    const auto page = m_pages.find(row / PageRows);
    if (page == m_pages.end() || row % PageRows >= page->second.size())
        return nullptr;
    return &page->second[row % PageRows];
}

QString ElementRows::errorOf(std::uint64_t row) const
{
    const bool failed =
        m_failedCount > 0 && row >= m_failedOffset && row < m_failedOffset + m_failedCount;
    return failed ? m_error : QString();
}

void ElementRows::need(std::uint64_t firstRow, std::uint64_t lastRow)
{
    const std::uint64_t rows = count();
    if (rows == 0 || firstRow >= rows)
        return;
    std::uint64_t first = firstRow / PageRows, end = std::min(rows - 1, lastRow) / PageRows;
    while (first <= end && m_pages.contains(first))
        ++first;
    while (end > first && m_pages.contains(end))
        --end;
    if (first > end || m_pages.contains(first))
        return;
    const std::uint64_t offset = first * PageRows;
    const std::uint64_t wanted = std::min((end + 1) * PageRows, rows) - offset;
    const bool pending = m_pendingId != 0 && m_pendingOffset == offset && m_pendingCount == wanted;
    const bool failed = m_failedCount > 0 && m_failedOffset == offset;
    if (!pending && !failed && m_collectId == 0)
        request(offset, wanted);
}

void ElementRows::request(std::uint64_t offset, std::uint64_t count)
{
    m_pendingId = m_context->nextRequestId();
    m_pendingOffset = offset;
    m_pendingCount = count;
    m_context->requestElements(
        {m_pendingId, *m_tensor, {order(), offset, std::size_t(count), m_filter}});
}

void ElementRows::receive(quint64 id, const std::shared_ptr<const ElementPage> &page)
{
    if (id == 0)
        return;
    if (id == m_collectId) {
        m_collectId = 0;
        Q_EMIT collected(withBitsOfBoth(page->rows));
        return;
    }
    if (id != m_pendingId)
        return; // of a tensor or an order that is gone
    m_pendingId = 0;
    // Without bits of a side the rows are the other's, by index, whatever was asked for.
    const bool lacksA = !page->rows.empty() && page->rows.front().bitsA.empty();
    const bool lacksB = !page->rows.empty() && page->rows.front().bitsB.empty();
    const bool isNews = lacksA != lacksB && !m_readSide;
    if (isNews)
        m_readSide = lacksA ? Side::B : Side::A;
    if (m_pages.size() > MaximumPages)
        m_pages.clear();
    const std::vector<ElementRow> rows = withBitsOfBoth(page->rows);
    for (std::size_t begin = 0; begin < rows.size(); begin += PageRows) {
        const std::size_t end = std::min(rows.size(), begin + PageRows);
        m_pages[(m_pendingOffset + begin) / PageRows] = {rows.begin() + std::ptrdiff_t(begin),
                                                         rows.begin() + std::ptrdiff_t(end)};
    }
    if (!rowsAreIndices() && page->complete)
        m_end = m_pendingOffset + rows.size();
    else if (!rowsAreIndices() && page->differentElements > 0)
        (m_filter.isEmpty() ? m_differing : m_accepted) = page->differentElements;
    m_failedCount = 0;
    if (isNews)
        Q_EMIT restarted(true);
    Q_EMIT arrived(rows);
}

void ElementRows::fail(quint64 id, const QString &error)
{
    if (id == 0)
        return;
    if (id == m_collectId) {
        m_collectId = 0;
        Q_EMIT message(tr("Not copied: %1").arg(displayText(error)));
    } else if (id == m_findId) {
        m_findId = 0;
        Q_EMIT message(tr("Not found: %1").arg(displayText(error)));
    } else if (id == m_pendingId) {
        m_pendingId = 0;
        m_failedOffset = m_pendingOffset;
        m_failedCount = m_pendingCount;
        m_error = displayText(error);
        Q_EMIT failed();
    }
}

void ElementRows::collect(std::uint64_t first, std::uint64_t count)
{
    std::vector<ElementRow> rows;
    for (std::uint64_t row = first; row < first + count; ++row) {
        const ElementRow *known = at(row);
        if (!known)
            break;
        rows.push_back(*known);
    }
    if (rows.size() == count) {
        Q_EMIT collected(rows);
        return;
    }
    m_collectId = m_context->nextRequestId();
    m_pendingId = 0; // the newer request drops the one for the view; it is asked for again
    m_context->requestElements(
        {m_collectId, *m_tensor, {order(), first, std::size_t(count), m_filter}});
}

void ElementRows::findDifference(Index from, bool backward)
{
    m_findId = m_context->nextRequestId();
    m_context->requestNextDifference(m_findId, from, backward);
}

} // namespace forkpoint
