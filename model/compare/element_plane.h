// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/shape.h"

#include <optional>
#include <string>
#include <utility>

namespace forkpoint {

/// The shape of the decoded elements: of packed types the last dimension is larger than stored.
Shape elementShape(const Shape &shape, Index elements);

/// A tensor of any rank, or a slice of it, as a plane of elements: the element of row r and column
/// c is base + r * rowStride + c * columnStride. Steps of one axis never reach over the next one.
struct ElementPlane
{
    Index rows = 0, columns = 0;
    Index base = 0, rowStride = 0, columnStride = 1;
    Index elements = 0; ///< of the tensor: a folded plane may end within its last row

    /// The whole tensor: rank 0 and 1 wrap into rows of about equal sides, rank 2 as it is, higher
    /// ranks with all axes but the last flattened into rows.
    static ElementPlane whole(const Shape &shape);
    /// Two axes as rows and columns, the others held at `at` (one index an axis; those of the two
    /// are ignored). Nothing where the axes are the same, or an index is out of range.
    static std::optional<ElementPlane> slice(const Shape &shape, std::size_t rowAxis,
                                             std::size_t columnAxis, const std::vector<Index> &at);

    /// Nothing outside the plane.
    std::optional<Index> indexAt(Index row, Index column) const;
    std::optional<std::pair<Index, Index>> placeOf(Index index) const; ///< (row, column)

    bool operator==(const ElementPlane &) const = default;
};

/// A half-open part of a plane.
struct PlaneWindow
{
    Index row = 0, column = 0, rows = 0, columns = 0;

    static PlaneWindow of(const ElementPlane &plane) { return {0, 0, plane.rows, plane.columns}; }
    bool contains(Index atRow, Index atColumn) const
    {
        return atRow >= row && atRow - row < rows && atColumn >= column
            && atColumn - column < columns;
    }

    bool operator==(const PlaneWindow &) const = default;
};

} // namespace forkpoint
