// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/chunk_array.h"

#include <algorithm>

namespace forkpoint {

bool WrittenPages::has(std::uint64_t page) const
{
    const std::uint64_t bit = first + page;
    return bit / 8 < bits.size() && (std::uint64_t(bits[bit / 8]) >> (7 - bit % 8) & 1) != 0;
}

ChunkArray::ChunkArray(std::uint64_t header, FoundChunks &found) : m_header(header), m_found(found)
{
    const std::vector<std::uint64_t> &most = found.grid().most;
    const auto unlimited = std::find(most.begin(), most.end(), Undefined);
    const auto first = std::size_t(unlimited - most.begin());
    if (unlimited != most.end())
        m_order.push_back(first);
    for (std::size_t i = 0; i < most.size(); ++i) {
        if (i != first)
            m_order.push_back(i);
    }
    m_needed = countNeeded();
}

Result<std::vector<std::byte>> ChunkArray::readBlock(std::uint64_t address, std::uint64_t size,
                                                     std::string_view signature)
{
    FP_CHECK(m_found.enter(address));
    FP_TRY(auto block, readMetadataBlock(address, size, signature));
    MetadataNumbers numbers(block, PrefixBytes - 1);
    const std::uint64_t client = numbers.next(1), owner = numbers.nextAddress();
    if (client == FilteredChunks && owner == m_header)
        return block;
    return malformedChunkIndex("leads to the block of another one at byte "
                               + std::to_string(address));
}

Status ChunkArray::addEntries(MetadataNumbers &numbers, std::uint64_t first, std::uint64_t count)
{
    const std::uint64_t end = std::min(count, m_needed > first ? m_needed - first : 0);
    for (std::uint64_t i = 0; i < end; ++i)
        FP_CHECK(m_found.add(numberOf(first + i), numbers));
    return numbers.isWhole() ? Status() : malformedChunkIndex("ends within an entry");
}

Status ChunkArray::addPages(std::uint64_t address, std::uint64_t first, std::uint64_t count,
                            std::uint64_t pageEntries, WrittenPages written)
{
    const std::uint64_t end = std::min(count, m_needed > first ? m_needed - first : 0);
    for (std::uint64_t page = 0; page * pageEntries < end; ++page) {
        const std::uint64_t from = page * pageEntries;
        const std::uint64_t own = std::min(pageEntries, count - from);
        const std::uint64_t at = address + page * (pageEntries * chunkEntryBytes() + ChecksumBytes);
        if (!written.has(page))
            continue;
        FP_CHECK(m_found.enter(at));
        FP_TRY(const auto bytes, readMetadataPage(at, own * chunkEntryBytes() + ChecksumBytes));
        MetadataNumbers numbers(bytes);
        FP_CHECK(addEntries(numbers, first + from, own));
    }
    return {};
}

/// Of the place `entry`: the chunk's number in the grid, or nothing.
std::optional<std::uint64_t> ChunkArray::numberOf(std::uint64_t entry) const
{
    const ChunkGrid &grid = m_found.grid();
    std::vector<std::uint64_t> at(m_order.size(), 0);
    for (std::size_t i = m_order.size(); i-- > 1;) {
        const std::uint64_t along = std::max<std::uint64_t>(grid.most[m_order[i]], 1);
        at[m_order[i]] = entry % along;
        entry /= along;
    }
    if (!at.empty())
        at[m_order.front()] = entry;
    return grid.numberOf(at);
}

std::uint64_t ChunkArray::countNeeded() const
{
    const ChunkGrid &grid = m_found.grid();
    if (grid.count == 0)
        return 0;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < m_order.size(); ++i) {
        const std::size_t dimension = m_order[i];
        const auto scaled =
            checkedMul(last, i == 0 ? 1 : std::max<std::uint64_t>(grid.most[dimension], 1));
        const auto sum = scaled ? checkedAdd(*scaled, grid.dims[dimension] - 1) : std::nullopt;
        if (!sum)
            return Undefined;
        last = *sum;
    }
    return last == Undefined ? last : last + 1;
}

} // namespace forkpoint
