// SPDX-License-Identifier: GPL-3.0-or-later
// What selections mean, element by element: an oracle for loaders/hdf5/hdf5_mapping.h, too slow for anything else.
#pragma once

#include "loaders/hdf5/hdf5_mapping.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace forkpoint::test {

/// Whether steps have the element at that place; of growing ones the first `elements`.
inline bool isInSteps(const Hdf5Selection::Steps &steps, Index at, std::uint64_t elements)
{
    if (at < steps.start)
        return false;
    const std::uint64_t offset = at - steps.start;
    if (!steps.isUnlimited && steps.count <= 1) // the stride of one block says nothing
        return steps.count == 1 && offset < steps.block;
    const std::uint64_t within = offset % steps.stride, block = offset / steps.stride;
    if (within >= steps.block)
        return false;
    return steps.isUnlimited ? block * steps.block + within < elements : block < steps.count;
}

inline bool isSelected(const BoundSelection &bound, const std::vector<Index> &at)
{
    const Hdf5Selection &selection = bound.selection;
    const auto isInBlock = [&](const Hdf5Selection::Block &block) {
        for (std::size_t i = 0; i < at.size(); ++i) {
            if (at[i] < block.begin[i] || at[i] >= block.end[i])
                return false;
        }
        return true;
    };
    switch (selection.kind) {
    case Hdf5Selection::Kind::All: return true;
    case Hdf5Selection::Kind::Grid:
        for (std::size_t i = 0; i < at.size(); ++i) {
            if (!isInSteps(selection.grid[i], at[i], bound.elements))
                return false;
        }
        return true;
    case Hdf5Selection::Kind::Blocks:
        return std::any_of(selection.blocks.begin(), selection.blocks.end(), isInBlock);
    default: return false;
    }
}

/// Row-major numbers of the elements that are selected, rising.
inline std::vector<Index> selectedElements(const BoundSelection &bound)
{
    std::vector<Index> elements;
    for (Index i = 0; i < bound.shape.count().value_or(0); ++i) {
        if (isSelected(bound, coordinatesOf(i, bound.shape)))
            elements.push_back(i);
    }
    return elements;
}

/// Row-major numbers of the elements of a box of a dataset, in their order.
inline std::vector<Index> elementsOf(const Box &box, const Shape &shape)
{
    const Shape inner{box.size};
    std::vector<Index> elements;
    for (Index i = 0; i < inner.count().value_or(0); ++i) {
        const std::vector<Index> at = coordinatesOf(i, inner);
        Index number = 0;
        for (std::size_t d = 0; d < at.size(); ++d)
            number = number * shape.dims[d] + box.origin[d] + at[d];
        elements.push_back(number);
    }
    return elements;
}

/// Which element is shown where, sorted by the place: as pairs of boxes say it, or, without them, the definition.
using Places = std::vector<std::pair<Index, Index>>;

inline Places placesOf(const std::vector<BoxPair> &pairs, const Shape &own, const Shape &source)
{
    Places places;
    for (const BoxPair &pair : pairs) {
        const auto left = elementsOf(pair.own, own), right = elementsOf(pair.source, source);
        for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
            places.emplace_back(left[i], right[i]);
        if (left.size() != right.size())
            places.emplace_back(~Index(0), ~Index(0)); // never right
    }
    std::sort(places.begin(), places.end());
    return places;
}

inline Places placesOf(const BoundSelection &own, const BoundSelection &source)
{
    const auto left = selectedElements(own), right = selectedElements(source);
    Places places;
    for (std::size_t i = 0; i < left.size() && left.size() == right.size(); ++i)
        places.emplace_back(left[i], right[i]);
    return places;
}

} // namespace forkpoint::test
