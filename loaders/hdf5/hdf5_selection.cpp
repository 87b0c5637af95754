// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_selection.h"

#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

std::optional<std::size_t> growingDimension(const Hdf5Selection &selection)
{
    const auto &grid = selection.grid;
    const auto found =
        std::find_if(grid.begin(), grid.end(),
                     [](const Hdf5Selection::Steps &steps) { return steps.isUnlimited; });
    return found == grid.end() ? std::nullopt : std::optional(std::size_t(found - grid.begin()));
}

std::optional<std::uint64_t> elementsWithin(const Hdf5Selection::Steps &steps, std::uint64_t length)
{
    if (length <= steps.start)
        return 0;
    const std::uint64_t rest = length - steps.start;
    if (steps.stride <= steps.block)
        return rest;
    return checkedAdd(rest / steps.stride * steps.block,
                      std::min(rest % steps.stride, steps.block));
}

std::optional<std::uint64_t> endOf(const Hdf5Selection::Steps &steps, std::uint64_t elements)
{
    if (elements == 0)
        return 0;
    if (steps.stride <= steps.block)
        return checkedAdd(steps.start, elements);
    // The last block may be a part: the elements before it fill theirs.
    const std::uint64_t before = (elements - 1) / steps.block;
    const auto begin = checkedMul(before, steps.stride);
    const auto end = begin ? checkedAdd(*begin, elements - before * steps.block) : std::nullopt;
    return end ? checkedAdd(*end, steps.start) : std::nullopt;
}

std::optional<std::vector<Hdf5Piece>> piecesOf(const Hdf5Selection::Steps &steps,
                                               std::uint64_t elements, std::size_t most)
{
    std::vector<Hdf5Piece> pieces;
    if (!steps.isUnlimited) {
        if (steps.count > most)
            return std::nullopt;
        for (std::uint64_t i = 0; i < steps.count; ++i)
            pieces.push_back({steps.start + i * steps.stride, steps.block});
        return pieces;
    }
    if (elements == 0)
        return pieces;
    if (steps.stride <= steps.block)
        return std::vector<Hdf5Piece>{{steps.start, elements}};
    if ((elements - 1) / steps.block >= most || !endOf(steps, elements))
        return std::nullopt;
    for (std::uint64_t i = 0, left = elements; left > 0; ++i) {
        const std::uint64_t size = std::min(left, steps.block);
        pieces.push_back({steps.start + i * steps.stride, size});
        left -= size;
    }
    return pieces;
}

} // namespace forkpoint
