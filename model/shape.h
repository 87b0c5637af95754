// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

using Index = std::uint64_t;

/// Dimensions of a tensor, outermost first. Rank 0 is one element; any zero makes it empty.
struct Shape
{
    std::vector<Index> dims;

    std::size_t rank() const { return dims.size(); }
    /// Product of the dimensions; nothing when it does not fit 64 bits. A zero dimension makes the
    /// product zero whatever the others are.
    std::optional<Index> count() const;
    /// Strides in elements of a row-major contiguous tensor of this shape (count() must exist).
    std::vector<std::int64_t> rowMajorStrides() const;
    /// "[48, 16]"
    std::string toString() const;

    bool operator==(const Shape &) const = default;
};

/// A half-open box inside a tensor: per dimension [origin, origin + size).
struct Box
{
    std::vector<Index> origin;
    std::vector<Index> size;

    bool operator==(const Box &) const = default;
};

/// Row-major coordinates of the element `index` of `shape`.
std::vector<Index> coordinatesOf(Index index, const Shape &shape);

} // namespace forkpoint
