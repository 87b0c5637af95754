// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_filter.h"
#include "widgets/models/row_source.h"

#include <memory>
#include <vector>

namespace forkpoint {

/// Which rows of a result a table shows, and in what order: positions into the result. Filtering
/// keeps the order, so rows keep their place when results arrive. A value: arranged on any thread,
/// then handed over.
class RowIndex
{
public:
    RowIndex() = default;
    /// All rows in natural order.
    explicit RowIndex(std::shared_ptr<const NameIndex> names);

    /// By rising keys, or falling ones; equal keys, and no keys at all, by natural order.
    void sort(const std::vector<std::uint64_t> &keys, bool descending);
    void filter(const RowSource &rows, const RowFilter &filter);

    const std::vector<Row> &visible() const { return m_visible; }
    std::size_t total() const { return m_order.size(); }
    const std::shared_ptr<const NameIndex> &names() const { return m_names; }

    /// Position among the visible rows, or -1.
    int positionOf(std::size_t row) const;

private:
    void sortByKeys(const std::vector<std::uint64_t> &keys, bool descending);
    void showAccepted();

    std::shared_ptr<const NameIndex> m_names;
    std::vector<Row> m_order;
    std::vector<Row> m_visible;
    std::vector<std::uint8_t> m_accepted; ///< by the filter, a row of the result
};

} // namespace forkpoint
