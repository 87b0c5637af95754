// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/metadata_block.h"
#include "loaders/hdf5/hdf5_description.h"
#include "model/result.h"

#include <cstdint>
#include <optional>
#include <set>
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

/// Bytes of what an index says of a chunk under layout 5: its address, its size, and in four bytes the mask
/// of the filters that it was written without.
std::size_t chunkEntryBytes();

/// What is wrong with an index of chunks.
Error malformedChunkIndex(const std::string &text);

/// Chunks as they are found.
class FoundChunks
{
public:
    explicit FoundChunks(const ChunkGrid &grid) : m_grid(grid) {}

    const ChunkGrid &grid() const { return m_grid; }
    /// The chunk that `entry` says, where it has a number and was written.
    Status add(std::optional<std::uint64_t> number, MetadataNumbers &entry);
    /// Whether a block is met for the first time.
    Status enter(std::uint64_t address);
    /// All of them, by number.
    Result<std::vector<Hdf5Chunk>> take();

private:
    const ChunkGrid &m_grid;
    std::vector<Hdf5Chunk> m_chunks;
    std::set<std::uint64_t> m_blocks;
};

} // namespace forkpoint
