// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_filter.h"
#include "widgets/models/row_source.h"

#include <memory>
#include <vector>

namespace forkpoint {

/// Which rows of a result a table shows, and in what order: positions into the result. Filtering
/// keeps the order, so rows keep their place when results arrive. A value: arranged on any thread,
/// then handed over; copies share what does not change.
class RowIndex
{
public:
    RowIndex();
    /// All rows in natural order.
    explicit RowIndex(std::shared_ptr<const NameIndex> names);

    /// By rising keys, or falling ones; equal keys, and no keys at all, by natural order.
    void sort(const std::vector<std::uint64_t> &keys, bool descending);
    void filter(const RowSource &rows, const RowFilter &filter);

    const std::vector<Row> &visible() const { return *m_visible; }
    std::size_t total() const { return m_order->size(); }
    const std::shared_ptr<const NameIndex> &names() const { return m_names; }

    /// Position among the visible rows, or -1.
    int positionOf(std::size_t row) const;

private:
    using Rows = std::shared_ptr<const std::vector<Row>>;

    Rows natural() const { return {m_names, &m_names->natural}; }
    Rows sortedByKeys(const std::vector<std::uint64_t> &keys, bool descending) const;
    void showAccepted();

    std::shared_ptr<const NameIndex> m_names;
    Rows m_order, m_visible;                                     ///< never null
    std::shared_ptr<const std::vector<std::uint8_t>> m_accepted; ///< a row of the result; null: all
};

} // namespace forkpoint
