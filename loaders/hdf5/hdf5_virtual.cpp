// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_virtual.h"

#include "loaders/elements/extent_geometry.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Boxes that what is not covered falls into, and extents.
constexpr std::size_t MostPieces = 20'000;

/// What is left of `from` without `part`, which lies in it: slabs, dimension by dimension.
void cut(Box from, const Box &part, std::vector<Box> &left)
{
    for (std::size_t i = 0; i < from.size.size(); ++i) {
        const Index end = from.origin[i] + from.size[i], stop = part.origin[i] + part.size[i];
        if (part.origin[i] > from.origin[i]) {
            left.push_back(from);
            left.back().size[i] = part.origin[i] - from.origin[i];
        }
        if (stop < end) {
            left.push_back(from);
            left.back().origin[i] = stop;
            left.back().size[i] = end - stop;
        }
        from.origin[i] = part.origin[i];
        from.size[i] = part.size[i];
    }
}

/// The same elements without those outside of `part`, which lies in its box.
Extent narrowed(Extent extent, const Box &part)
{
    if (extent.fills == Extent::Fills::Box) {
        for (std::size_t i = 0; i < part.size.size(); ++i)
            extent.firstElement +=
                (part.origin[i] - extent.box.origin[i]) * std::uint64_t(extent.strides[i]);
    }
    extent.box = part;
    return extent;
}

} // namespace

std::optional<Extent> placed(const Extent &extent, const BoxPair &pair)
{
    const auto shown = intersection(extent.box, pair.source);
    if (!shown)
        return std::nullopt;
    const auto own = longDimensions(pair.own), other = longDimensions(pair.source);
    const Extent part = narrowed(extent, *shown);
    Extent result = part;
    result.box = pair.own;
    result.strides.assign(pair.own.size.size(), 0);
    for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t from = other[i];
        result.box.origin[own[i]] += part.box.origin[from] - pair.source.origin[from];
        result.box.size[own[i]] = part.box.size[from];
        if (part.fills == Extent::Fills::Box)
            result.strides[own[i]] = part.strides[from];
    }
    if (part.fills != Extent::Fills::Box)
        result.strides.clear();
    return result;
}

Mosaic::Mosaic(const Shape &shape) : m_open{{std::vector<Index>(shape.rank(), 0), shape.dims}}
{
    std::erase_if(m_open, isEmpty);
}

Status Mosaic::addBelow(const Extent &extent)
{
    std::vector<Box> left;
    for (Box &box : m_open) {
        const auto part = intersection(box, extent.box);
        if (!part) {
            left.push_back(std::move(box));
            continue;
        }
        m_extents.push_back(narrowed(extent, *part));
        cut(std::move(box), *part, left);
    }
    m_open = std::move(left);
    if (m_open.size() > MostPieces || m_extents.size() > MostPieces)
        return Error{ErrorCode::Limit, {}, {}, "falls into too many pieces"};
    return {};
}

} // namespace forkpoint
