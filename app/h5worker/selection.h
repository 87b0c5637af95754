// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/metadata_block.h"
#include "model/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace forkpoint {

/// Which elements of a dataset, as virtual datasets and references to regions say it: HDF5 file format,
/// "Dataspace Selection", of every version that there is for each kind.
struct Selection
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
};

/// At most: dimensions, and numbers of one list of points or blocks.
inline constexpr std::uint64_t MostSelectionRank = 32, MostSelectionNumbers = 1'000'000;

/// The selection that stands next. Malformed, Limit, or Unsupported of a version that is not known.
Result<Selection> decodeSelection(MetadataNumbers &numbers);

/// "[1:3, 2:4]", with a third number where elements are left out and a fourth where more than one follow
/// each other then ("0:9:3:2"); "(0, 2) (1, 5)" of points; "[...]" of all, "[]" of nothing. Other
/// selections have other texts. Equal ones have equal texts whatever the version, except where the same
/// elements are listed in blocks that are cut otherwise and are no grid.
std::string toText(const Selection &selection);

} // namespace forkpoint
