// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/newer_header.h"
#include "loaders/hdf5_description.h"
#include "model/result.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// The grid in which the chunks of a dataset stand.
struct ChunkGrid
{
    std::vector<std::uint64_t> dims; ///< chunks along each dimension of the present shape
    std::vector<std::uint64_t> most; ///< along each dimension of the largest shape; ~0: unlimited
    std::uint64_t count = 0;         ///< product of `dims`

    /// Row-major in `dims`; nothing outside of them.
    std::optional<std::uint64_t> numberOf(const std::vector<std::uint64_t> &at) const;
};

/// Chunks of one dataset, at most.
inline constexpr std::size_t MostChunks = 16'000'000;

/// The filtered chunks that an index lists, by number. Addresses and lengths of the file have 8
/// bytes. An error names the block that is damaged; no block is read twice, and no more chunks are
/// listed than the grid has places or MostChunks.
Result<std::vector<Hdf5Chunk>> readChunkIndex(const NewerChunkIndex &index, const ChunkGrid &grid);

} // namespace forkpoint
