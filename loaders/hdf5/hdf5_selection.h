// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// Which elements of a dataset, as virtual datasets and references to regions say it.
struct Hdf5Selection
{
    enum class Kind : std::uint8_t { None, Points, Grid, Blocks, All };
    /// Along one dimension: `count` times `block` elements, `stride` from begin to begin. Where blocks
    /// touch they are one.
    struct Steps
    {
        std::uint64_t start = 0, stride = 1, count = 1, block = 1;
        bool isUnlimited = false; ///< they go on as the dataset grows; `count` is 0

        bool operator==(const Steps &) const = default;
    };
    struct Block
    {
        std::vector<std::uint64_t> begin, end; ///< the first element and the one behind the last

        auto operator<=>(const Block &) const = default;
    };
    Kind kind = Kind::None;
    std::vector<Steps> grid; ///< Grid: the elements in the steps of every dimension
    std::vector<std::vector<std::uint64_t>> points; ///< Points: in the order of the selection
    std::vector<Block> blocks;                      ///< Blocks: sorted, each once; what is no grid

    bool operator==(const Hdf5Selection &) const = default;
};

/// The dimension in which a selection goes on as its dataset grows.
std::optional<std::size_t> growingDimension(const Hdf5Selection &selection);

/// Elements of growing steps in a dataset of that length, and where that many elements of them end: 0 of none.
/// Both are nothing where 64 bits do not count them.
std::optional<std::uint64_t> elementsWithin(const Hdf5Selection::Steps &steps,
                                            std::uint64_t length);
std::optional<std::uint64_t> endOf(const Hdf5Selection::Steps &steps, std::uint64_t elements);

/// Elements of a dimension that follow each other.
struct Hdf5Piece
{
    std::uint64_t begin = 0, size = 0;
};

/// The pieces of steps, in order, at most `most`; of growing ones those of that many elements.
std::optional<std::vector<Hdf5Piece>> piecesOf(const Hdf5Selection::Steps &steps,
                                               std::uint64_t elements, std::size_t most);

} // namespace forkpoint
