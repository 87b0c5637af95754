// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// The most telling of the marks of a stretch, at every scale: a level halves the one below, and a
/// difference shows over everything, so that none is ever hidden however far away one looks. Built
/// once; a stretch of any length is then answered in logarithmic time.
class StepPyramid
{
public:
    StepPyramid() = default;
    explicit StepPyramid(const std::vector<StepMark> &marks);

    std::size_t size() const { return m_levels.empty() ? 0 : m_levels.front().size(); }
    /// The most telling status of the marks [first, end), which must not be empty.
    StepStatus worst(std::size_t first, std::size_t end) const;
    /// The first mark at or after `from` (the last before it, when backward) of that status.
    std::optional<std::size_t> next(std::size_t from, StepStatus status) const;
    std::optional<std::size_t> previous(std::size_t before, StepStatus status) const;
    bool any(StepStatus status) const { return (m_all & bit(status)) != 0; }

private:
    using Bits = std::uint8_t; ///< one a status: which occur
    static Bits bit(StepStatus status) { return Bits(1u << unsigned(status)); }

    std::vector<std::vector<Bits>> m_levels; ///< level 0: one entry a mark
    Bits m_all = 0;
};

} // namespace forkpoint
