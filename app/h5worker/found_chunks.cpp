// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/found_chunks.h"

#include <algorithm>
#include <limits>

namespace forkpoint {

namespace {

constexpr std::size_t MaskBytes = 4;

} // namespace

std::size_t chunkEntryBytes()
{
    return metadataWidths().address + metadataWidths().length + MaskBytes;
}

std::optional<std::uint64_t> ChunkGrid::numberOf(const std::vector<std::uint64_t> &at) const
{
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (at[i] >= dims[i])
            return std::nullopt;
        number = number * dims[i] + at[i];
    }
    return number;
}

Error malformedChunkIndex(const std::string &text)
{
    return {ErrorCode::Malformed, {}, {}, "the index of its chunks " + text};
}

Status FoundChunks::add(std::optional<std::uint64_t> number, MetadataNumbers &entry)
{
    const std::uint64_t address = entry.nextAddress(), size = entry.nextLength();
    const std::uint64_t mask = entry.next(MaskBytes);
    if (address == UndefinedAddress || !number)
        return {};
    if (size > std::numeric_limits<std::uint32_t>::max())
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "has a chunk of " + std::to_string(size) + " bytes, at most 2^32-1 are read"};
    if (m_chunks.size() == MostChunks)
        return Error{
            ErrorCode::Limit, {}, {}, "has more than " + std::to_string(MostChunks) + " chunks"};
    if (m_chunks.size() == m_grid.count)
        return malformedChunkIndex("lists more chunks than there are places");
    m_chunks.push_back({*number, address, std::uint32_t(size), std::uint32_t(mask)});
    return {};
}

Status FoundChunks::enter(std::uint64_t address)
{
    if (m_blocks.insert(address).second)
        return {};
    return malformedChunkIndex("leads to the block at byte " + std::to_string(address) + " twice");
}

Result<std::vector<Hdf5Chunk>> FoundChunks::take()
{
    const auto byNumber = [](const Hdf5Chunk &x, const Hdf5Chunk &y) {
        return x.number < y.number;
    };
    std::sort(m_chunks.begin(), m_chunks.end(), byNumber);
    const auto twice = std::adjacent_find(
        m_chunks.begin(), m_chunks.end(),
        [](const Hdf5Chunk &x, const Hdf5Chunk &y) { return x.number == y.number; });
    if (twice != m_chunks.end())
        return malformedChunkIndex("lists chunk " + std::to_string(twice->number) + " twice");
    return std::move(m_chunks);
}

} // namespace forkpoint
