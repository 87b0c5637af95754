// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/shape.h"
#include "model/tensor_ref.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// Extents of one tensor, those of its copies with them, beyond which nobody is told what lies where:
/// 2^16 are 64 ranks that cut each of 1,024 layers.
inline constexpr std::size_t MostToldExtents = 1u << 16;

/// Finds the extent that holds an element without looking at all of them: the cuts of all boxes make
/// a grid, each cell of which lies in one extent, and so do those of flat ranges.
class ExtentIndex
{
public:
    ExtentIndex(const std::vector<Extent> &extents, const Shape &shape);

    /// The first extent in order that holds the element at row-major `at`; nothing where none does.
    std::optional<std::size_t> find(Index element, const std::vector<Index> &at) const;
    /// False where the cuts are so irregular that their grid is not worth its memory.
    bool isUsable() const { return m_usable; }

private:
    static constexpr std::uint32_t None = ~std::uint32_t(0);

    void addBoxes(const std::vector<Extent> &extents, const Shape &shape);
    void addRanges(const std::vector<Extent> &extents);

    bool m_usable = true;
    std::vector<std::vector<Index>> m_cuts; ///< of boxes, of each dimension, rising
    std::vector<std::uint32_t> m_cells;     ///< the extent of each cell of the grid, row-major
    std::vector<Index> m_begins;            ///< of stretches of the row-major order, rising
    std::vector<std::uint32_t> m_stretches; ///< the extent of each
};

} // namespace forkpoint
