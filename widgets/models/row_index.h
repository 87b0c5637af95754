// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

namespace forkpoint {

/// Compares names as people read them: runs of digits by their number, so that layers.2 comes
/// before layers.10. Everything else bytewise, no locale. Names that differ are never equal.
int naturalCompare(std::string_view a, std::string_view b);

/// Which rows of a result a table shows, and in what order: positions into the result. Filtering
/// keeps the order, so rows keep their place when results arrive.
class RowIndex
{
public:
    using Row = std::uint32_t;

    /// All rows in the result's own order.
    void reset(std::size_t count)
    {
        m_order.resize(count);
        std::iota(m_order.begin(), m_order.end(), Row(0));
        m_visible = m_order;
    }

    template <class Less>
    void sort(Less less)
    {
        std::stable_sort(m_order.begin(), m_order.end(), less);
    }

    /// True if what is visible changed.
    template <class Accept>
    bool filter(Accept accept)
    {
        std::vector<Row> visible;
        visible.reserve(m_order.size());
        std::copy_if(m_order.begin(), m_order.end(), std::back_inserter(visible), accept);
        if (visible == m_visible)
            return false;
        m_visible = std::move(visible);
        return true;
    }

    const std::vector<Row> &visible() const { return m_visible; }
    std::size_t total() const { return m_order.size(); }

    /// Position among the visible rows, or -1.
    int positionOf(std::size_t row) const
    {
        const auto found = std::find(m_visible.begin(), m_visible.end(), Row(row));
        return found == m_visible.end() ? -1 : int(found - m_visible.begin());
    }

private:
    std::vector<Row> m_order;
    std::vector<Row> m_visible;
};

} // namespace forkpoint
