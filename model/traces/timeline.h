// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/causal_chain.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// The causal chain as a table: a row for each stage (or whatever else its links are called), a
/// column for each step. How much a stretch of
/// columns holds is answered at once, whatever its length, so that a view costs what it shows.
class Timeline
{
public:
    /// What a stretch of columns holds in one row.
    struct Cell
    {
        /// Nothing where the row has no link there. Of several the most telling: a difference shows
        /// over what is not decided, that over equality, and that over holes.
        std::optional<LinkStatus> status;
        std::uint64_t compared = 0, different = 0; ///< records and items
        bool operator==(const Cell &) const = default;
    };

    Timeline() = default;
    /// Links by step, then causal order, as CausalChain gives them. Those without a step are left out.
    explicit Timeline(const std::vector<ChainLink> &links);

    /// Stages in causal order; others in the order of their first use.
    const std::vector<std::string> &rows() const { return m_rows; }
    const std::vector<std::int64_t> &steps() const { return m_steps; } ///< rising
    bool isEmpty() const { return m_steps.empty(); }

    /// The columns [first, end) of a row.
    Cell over(std::size_t row, std::size_t first, std::size_t end) const;
    /// The link of one cell; nullptr where there is none.
    const ChainLink *link(std::size_t row, std::size_t column) const;
    /// The first column at or after `step`.
    std::size_t columnFrom(double step) const;

private:
    static constexpr std::size_t Statuses = 4;
    /// Of the columns before one: how many of each status, and their counts.
    struct Sums
    {
        std::array<std::uint32_t, Statuses> statuses{};
        std::uint64_t compared = 0, different = 0;
    };

    std::vector<std::string> m_rows;
    std::vector<std::int64_t> m_steps;
    std::vector<std::vector<Sums>> m_sums; ///< row by row, one more than columns
    std::vector<ChainLink> m_links;        ///< of m_places
    std::vector<std::vector<std::uint32_t>>
        m_places; ///< row by row: one more than the link; 0: none
};

} // namespace forkpoint
