// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/shape.h"

#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

std::optional<Index> Shape::count() const
{
    if (std::find(dims.begin(), dims.end(), Index(0)) != dims.end())
        return Index(0);
    Index product = 1;
    for (const Index dim : dims) {
        const auto next = checkedMul(product, dim);
        if (!next)
            return std::nullopt;
        product = *next;
    }
    return product;
}

std::vector<std::int64_t> Shape::rowMajorStrides() const
{
    std::vector<std::int64_t> strides(dims.size());
    std::uint64_t step = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        strides[i] = std::int64_t(step);
        step *= dims[i]; // wraps only where count() is zero or absent; such strides are never used
    }
    return strides;
}

std::string Shape::toString() const
{
    std::string text = "[";
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (i > 0)
            text += ", ";
        text += std::to_string(dims[i]);
    }
    return text + "]";
}

std::vector<Index> coordinatesOf(Index index, const Shape &shape)
{
    std::vector<Index> coordinates(shape.dims.size());
    for (std::size_t i = shape.dims.size(); i-- > 0;) {
        const Index dim = std::max<Index>(shape.dims[i], 1);
        coordinates[i] = index % dim;
        index /= dim;
    }
    return coordinates;
}

} // namespace forkpoint
