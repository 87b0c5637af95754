// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/element_plane.h"

#include <algorithm>
#include <cmath>

namespace forkpoint {

Shape elementShape(const Shape &shape, Index elements)
{
    const Index stored = shape.count().value_or(0);
    Shape result = shape;
    if (stored > 0 && elements > stored && elements % stored == 0 && !result.dims.empty())
        result.dims.back() *= elements / stored;
    return result;
}

ElementPlane ElementPlane::whole(const Shape &shape)
{
    ElementPlane plane;
    plane.elements = shape.count().value_or(0);
    if (plane.elements == 0)
        return plane;
    if (shape.rank() >= 2) {
        plane.columns = shape.dims.back();
        plane.rows = plane.elements / plane.columns;
    } else {
        // A power of two for the row, so that places are easy to tell.
        const double side = std::sqrt(double(plane.elements));
        plane.columns =
            std::min<Index>(plane.elements, Index(std::exp2(std::ceil(std::log2(side)))));
        plane.rows = (plane.elements - 1) / plane.columns + 1;
    }
    plane.rowStride = plane.columns;
    return plane;
}

std::optional<ElementPlane> ElementPlane::slice(const Shape &shape, std::size_t rowAxis,
                                                std::size_t columnAxis,
                                                const std::vector<Index> &at)
{
    const std::optional<Index> count = shape.count();
    const std::size_t rank = shape.rank();
    if (!count || *count == 0 || rowAxis == columnAxis || rowAxis >= rank || columnAxis >= rank
        || at.size() != rank)
        return std::nullopt;
    ElementPlane plane;
    plane.elements = *count;
    Index stride = 1;
    for (std::size_t axis = rank; axis-- > 0;) {
        if (axis == rowAxis) {
            plane.rows = shape.dims[axis];
            plane.rowStride = stride;
        } else if (axis == columnAxis) {
            plane.columns = shape.dims[axis];
            plane.columnStride = stride;
        } else if (at[axis] >= shape.dims[axis]) {
            return std::nullopt;
        } else {
            plane.base += at[axis] * stride;
        }
        stride *= shape.dims[axis];
    }
    return plane;
}

std::optional<Index> ElementPlane::indexAt(Index row, Index column) const
{
    if (row >= rows || column >= columns)
        return std::nullopt;
    const Index index = base + row * rowStride + column * columnStride;
    return index < elements ? std::optional<Index>(index) : std::nullopt;
}

std::optional<std::pair<Index, Index>> ElementPlane::placeOf(Index index) const
{
    if (index < base || index >= elements || rows == 0)
        return std::nullopt;
    // Equal strides: one of the two axes has a single element.
    const bool rowsOutside = rowStride != columnStride ? rowStride > columnStride : rows > 1;
    const Index outer = rowsOutside ? rowStride : columnStride;
    const Index inner = rowsOutside ? columnStride : rowStride;
    const Index away = index - base, rest = away % outer;
    if (rest % inner != 0)
        return std::nullopt;
    const Index far = away / outer, near = rest / inner;
    const std::pair<Index, Index> place = rowsOutside ? std::pair(far, near) : std::pair(near, far);
    if (place.first >= rows || place.second >= columns)
        return std::nullopt;
    return place;
}

} // namespace forkpoint
