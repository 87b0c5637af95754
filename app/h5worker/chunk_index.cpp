// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 file format, "Version 4 (and later) chunk indexes": fixed array, extensible array, version 2
// B-tree of filtered chunks.
#include "app/h5worker/chunk_index.h"

#include "app/h5worker/metadata_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>

namespace forkpoint {

namespace {

constexpr std::uint64_t Undefined = ~std::uint64_t(0);
constexpr std::size_t AddressBytes = 8, SizeBytes = 8, MaskBytes = 4;
constexpr std::size_t EntryBytes = AddressBytes + SizeBytes + MaskBytes;
constexpr std::size_t ChecksumBytes = 4;
constexpr std::size_t PrefixBytes = 6; // signature, version, and what the block is of
constexpr std::size_t BlockHead = PrefixBytes + AddressBytes; // of an array: its header's address
constexpr std::uint64_t FilteredChunks = 1;
constexpr std::uint64_t FilteredRecords = 11;

Error malformed(const std::string &text)
{
    return {ErrorCode::Malformed, {}, {}, "the index of its chunks " + text};
}

/// Chunks as they are found.
class Found
{
public:
    explicit Found(const ChunkGrid &grid) : m_grid(grid) {}

    Status add(const std::optional<std::uint64_t> &number, MetadataNumbers &entry)
    {
        const std::uint64_t address = entry.next(AddressBytes), size = entry.next(SizeBytes);
        const std::uint64_t mask = entry.next(MaskBytes);
        if (address == Undefined || !number)
            return {};
        if (size > std::numeric_limits<std::uint32_t>::max())
            return Error{ErrorCode::Limit,
                         {},
                         {},
                         "has a chunk of " + std::to_string(size)
                             + " bytes, at most 2^32-1 are read"};
        if (m_chunks.size() == MostChunks)
            return Error{ErrorCode::Limit,
                         {},
                         {},
                         "has more than " + std::to_string(MostChunks) + " chunks"};
        if (m_chunks.size() == m_grid.count)
            return malformed("lists more chunks than there are places");
        m_chunks.push_back({*number, address, std::uint32_t(size), std::uint32_t(mask)});
        return {};
    }

    /// Whether a block is met for the first time.
    Status enter(std::uint64_t address)
    {
        if (m_blocks.insert(address).second)
            return {};
        return malformed("leads to the block at byte " + std::to_string(address) + " twice");
    }

    Result<std::vector<Hdf5Chunk>> take()
    {
        const auto byNumber = [](const Hdf5Chunk &x, const Hdf5Chunk &y) {
            return x.number < y.number;
        };
        std::sort(m_chunks.begin(), m_chunks.end(), byNumber);
        const auto twice = std::adjacent_find(
            m_chunks.begin(), m_chunks.end(),
            [](const Hdf5Chunk &x, const Hdf5Chunk &y) { return x.number == y.number; });
        if (twice != m_chunks.end())
            return malformed("lists chunk " + std::to_string(twice->number) + " twice");
        return std::move(m_chunks);
    }

private:
    const ChunkGrid &m_grid;
    std::vector<Hdf5Chunk> m_chunks;
    std::set<std::uint64_t> m_blocks;
};

/// Entries of an array stand row-major in the largest grid; where one dimension is unlimited, that one
/// comes first.
class ArrayOrder
{
public:
    explicit ArrayOrder(const ChunkGrid &grid) : m_grid(grid)
    {
        const auto unlimited = std::find(grid.most.begin(), grid.most.end(), Undefined);
        const auto first = std::size_t(unlimited - grid.most.begin());
        if (unlimited != grid.most.end())
            m_order.push_back(first);
        for (std::size_t i = 0; i < grid.most.size(); ++i) {
            if (i != first)
                m_order.push_back(i);
        }
    }

    /// Of the place `entry`: the chunk's number in the grid, or nothing.
    std::optional<std::uint64_t> numberOf(std::uint64_t entry) const
    {
        std::vector<std::uint64_t> at(m_order.size(), 0);
        for (std::size_t i = m_order.size(); i-- > 1;) {
            const std::uint64_t along = std::max<std::uint64_t>(m_grid.most[m_order[i]], 1);
            at[m_order[i]] = entry % along;
            entry /= along;
        }
        if (!at.empty())
            at[m_order.front()] = entry;
        return m_grid.numberOf(at);
    }

    /// Entries up to the last one that the present grid may have.
    std::uint64_t needed() const
    {
        if (m_grid.count == 0)
            return 0;
        std::uint64_t last = 0;
        for (std::size_t i = 0; i < m_order.size(); ++i) {
            const std::size_t dimension = m_order[i];
            const auto scaled =
                checkedMul(last, i == 0 ? 1 : std::max<std::uint64_t>(m_grid.most[dimension], 1));
            const auto sum =
                scaled ? checkedAdd(*scaled, m_grid.dims[dimension] - 1) : std::nullopt;
            if (!sum)
                return Undefined;
            last = *sum;
        }
        return last == Undefined ? last : last + 1;
    }

private:
    const ChunkGrid &m_grid;
    std::vector<std::size_t> m_order; ///< dimensions, the slowest first
};

/// A block of an array whose header is at `header`.
Result<std::vector<std::byte>> readArrayBlock(std::uint64_t address, std::uint64_t size,
                                              std::string_view signature, std::uint64_t header)
{
    FP_TRY(auto block, readMetadataBlock(address, size, signature));
    MetadataNumbers numbers(block, PrefixBytes - 1);
    const std::uint64_t client = numbers.next(1), owner = numbers.next(AddressBytes);
    if (client == FilteredChunks && owner == header)
        return block;
    return malformed("leads to the block of another one at byte " + std::to_string(address));
}

/// Entries from `first` on, of a block or page.
Status addEntries(MetadataNumbers &numbers, std::uint64_t first, std::uint64_t count,
                  std::uint64_t needed, const ArrayOrder &order, Found &found)
{
    const std::uint64_t end = std::min(count, needed > first ? needed - first : 0);
    for (std::uint64_t i = 0; i < end; ++i)
        FP_CHECK(found.add(order.numberOf(first + i), numbers));
    return numbers.isWhole() ? Status() : malformed("ends within an entry");
}

/// Which pages were written: a bit each, the highest of a byte first.
struct WrittenPages
{
    ByteView bits;
    std::uint64_t first = 0; ///< bit of page 0

    bool has(std::uint64_t page) const
    {
        const std::uint64_t bit = first + page;
        return bit / 8 < bits.size() && (std::uint64_t(bits[bit / 8]) >> (7 - bit % 8) & 1) != 0;
    }
};

/// Entries that are stored in pages, each with a checksum of its own and without a signature.
Status addPages(std::uint64_t address, std::uint64_t first, std::uint64_t count,
                std::uint64_t pageEntries, WrittenPages written, std::uint64_t needed,
                const ArrayOrder &order, Found &found)
{
    const std::uint64_t end = std::min(count, needed > first ? needed - first : 0);
    for (std::uint64_t page = 0; page * pageEntries < end; ++page) {
        const std::uint64_t from = page * pageEntries;
        const std::uint64_t own = std::min(pageEntries, count - from);
        const std::uint64_t at = address + page * (pageEntries * EntryBytes + ChecksumBytes);
        if (!written.has(page))
            continue;
        FP_CHECK(found.enter(at));
        FP_TRY(const auto bytes, readMetadataPage(at, own * EntryBytes + ChecksumBytes));
        MetadataNumbers numbers(bytes);
        FP_CHECK(addEntries(numbers, first + from, own, needed, order, found));
    }
    return {};
}

Status readFixedArray(std::uint64_t address, const ChunkGrid &grid, Found &found)
{
    constexpr std::size_t HeaderBytes = PrefixBytes + 2 + SizeBytes + AddressBytes + ChecksumBytes;
    FP_TRY(const auto header, readMetadataBlock(address, HeaderBytes, "FAHD"));
    MetadataNumbers head(header, PrefixBytes - 1);
    const std::uint64_t client = head.next(1), entryBytes = head.next(1), pageBits = head.next(1);
    const std::uint64_t count = head.next(SizeBytes), blockAddress = head.next(AddressBytes);
    if (client != FilteredChunks || entryBytes != EntryBytes || pageBits > 31)
        return malformed("is no fixed array of filtered chunks");
    if (blockAddress == Undefined)
        return {};
    const ArrayOrder order(grid);
    const std::uint64_t needed = std::min(count, order.needed());
    const std::uint64_t pageEntries = std::uint64_t(1) << pageBits;
    if (count <= pageEntries) {
        FP_TRY(const auto block,
               readArrayBlock(blockAddress, BlockHead + count * EntryBytes + ChecksumBytes, "FADB",
                              address));
        MetadataNumbers numbers(block, BlockHead);
        return addEntries(numbers, 0, count, needed, order, found);
    }
    const std::uint64_t pages = (count - 1) / pageEntries + 1;
    const std::uint64_t size = BlockHead + pages / 8 + (pages % 8 != 0) + ChecksumBytes;
    FP_TRY(const auto block, readArrayBlock(blockAddress, size, "FADB", address));
    return addPages(blockAddress + size, 0, count, pageEntries,
                    {ByteView(block).subspan(BlockHead)}, needed, order, found);
}

/// Entries in the index block, then data blocks, the first named by the index block, the others by
/// super blocks of twice as many or twice as large ones each.
class ExtensibleArray
{
public:
    ExtensibleArray(const ChunkGrid &grid, Found &found)
        : m_order(grid),
          m_found(found),
          m_needed(m_order.needed())
    {
    }

    Status read(std::uint64_t address)
    {
        m_header = address;
        constexpr std::size_t Statistics = 6;
        constexpr std::size_t HeaderBytes =
            PrefixBytes + 6 + Statistics * SizeBytes + AddressBytes + ChecksumBytes;
        FP_TRY(const auto header, readMetadataBlock(address, HeaderBytes, "EAHD"));
        MetadataNumbers head(header, PrefixBytes - 1);
        const std::uint64_t client = head.next(1), entryBytes = head.next(1);
        m_bits = head.next(1);
        m_inIndex = head.next(1);
        m_smallest = head.next(1);
        m_pointers = head.next(1);
        const std::uint64_t pageBits = head.next(1);
        head.skip(Statistics * SizeBytes);
        const std::uint64_t indexAddress = head.next(AddressBytes);
        const bool isSound = client == FilteredChunks && entryBytes == EntryBytes && m_bits > 0
            && m_bits <= 64 && std::has_single_bit(m_smallest) && std::has_single_bit(m_pointers)
            && m_pointers > 1 && pageBits <= 31
            && m_bits >= std::uint64_t(std::countr_zero(m_smallest));
        if (!isSound)
            return malformed("is no extensible array of filtered chunks");
        m_pageEntries = std::uint64_t(1) << pageBits;
        return indexAddress == Undefined ? Status() : readIndexBlock(indexAddress);
    }

private:
    std::size_t offsetBytes() const { return std::size_t(m_bits + 7) / 8; }
    /// Of super block `u`: its data blocks, and the entries of each.
    static std::uint64_t blocksOf(std::uint64_t u) { return std::uint64_t(1) << (u / 2); }
    std::uint64_t entriesOf(std::uint64_t u) const { return m_smallest << ((u + 1) / 2); }

    Status readIndexBlock(std::uint64_t address)
    {
        const std::uint64_t all = 1 + m_bits - std::uint64_t(std::countr_zero(m_smallest));
        const std::uint64_t inIndex = 2 * std::uint64_t(std::countr_zero(m_pointers));
        const std::uint64_t direct = 2 * (m_pointers - 1);
        const std::uint64_t supers = all > inIndex ? all - inIndex : 0;
        FP_TRY(const auto block,
               readArrayBlock(address,
                              BlockHead + m_inIndex * EntryBytes + (direct + supers) * AddressBytes
                                  + ChecksumBytes,
                              "EAIB", m_header));
        MetadataNumbers numbers(block, BlockHead);
        MetadataNumbers addresses(block, BlockHead + m_inIndex * EntryBytes);
        FP_CHECK(addEntries(numbers, 0, m_inIndex, m_needed, m_order, m_found));
        m_first = m_inIndex;
        std::uint64_t named = 0;
        for (std::uint64_t u = 0; u < all && m_first < m_needed; ++u) {
            if (u >= inIndex) {
                FP_CHECK(readSuperBlock(addresses.next(AddressBytes), u));
                continue;
            }
            for (std::uint64_t i = 0; i < blocksOf(u) && named < direct; ++i, ++named)
                FP_CHECK(readDataBlock(addresses.next(AddressBytes), entriesOf(u), {}));
        }
        return addresses.isWhole() ? Status() : malformed("names fewer blocks than it needs");
    }

    Status readSuperBlock(std::uint64_t address, std::uint64_t u)
    {
        const std::uint64_t blocks = blocksOf(u), entries = entriesOf(u);
        if (address == Undefined) {
            const auto all = checkedMul(blocks, entries);
            m_first = all ? checkedAdd(m_first, *all).value_or(Undefined) : Undefined;
            return {};
        }
        FP_CHECK(m_found.enter(address));
        const bool isPaged = entries > m_pageEntries;
        const std::uint64_t bitmap = isPaged ? (entries / m_pageEntries + 7) / 8 : 0;
        FP_TRY(const auto block,
               readArrayBlock(address,
                              BlockHead + offsetBytes() + blocks * bitmap + blocks * AddressBytes
                                  + ChecksumBytes,
                              "EASB", m_header));
        const ByteView bitmaps =
            ByteView(block).subspan(BlockHead + offsetBytes(), blocks * bitmap);
        MetadataNumbers addresses(block, BlockHead + offsetBytes() + bitmaps.size());
        for (std::uint64_t i = 0; i < blocks && m_first < m_needed; ++i)
            FP_CHECK(readDataBlock(addresses.next(AddressBytes), entries,
                                   {bitmaps, i * (entries / m_pageEntries)}));
        return {};
    }

    Status readDataBlock(std::uint64_t address, std::uint64_t entries, WrittenPages written)
    {
        const std::uint64_t first = m_first;
        m_first = checkedAdd(m_first, entries).value_or(Undefined);
        if (address == Undefined || first >= m_needed)
            return {};
        FP_CHECK(m_found.enter(address));
        const std::size_t head = BlockHead + offsetBytes();
        if (entries <= m_pageEntries) {
            FP_TRY(const auto block,
                   readArrayBlock(address, head + entries * EntryBytes + ChecksumBytes, "EADB",
                                  m_header));
            MetadataNumbers numbers(block, head);
            return addEntries(numbers, first, entries, m_needed, m_order, m_found);
        }
        FP_CHECK(readArrayBlock(address, head + ChecksumBytes, "EADB", m_header));
        return addPages(address + head + ChecksumBytes, first, entries, m_pageEntries, written,
                        m_needed, m_order, m_found);
    }

    ArrayOrder m_order;
    Found &m_found;
    std::uint64_t m_needed;
    std::uint64_t m_header = 0;
    // As the header gives them: bits of an entry's number, entries in the index block and in the
    // smallest data block, addresses in the smallest super block, entries of a page.
    std::uint64_t m_bits = 0, m_inIndex = 0, m_smallest = 0, m_pointers = 0, m_pageEntries = 0;
    std::uint64_t m_first = 0; ///< entry of the next data block
};

/// Records with the places of their chunks, in nodes of one size.
class BTree2
{
public:
    BTree2(const ChunkGrid &grid, Found &found) : m_grid(grid), m_found(found) {}

    Status read(std::uint64_t address)
    {
        constexpr std::size_t HeaderBytes =
            PrefixBytes + 4 + 2 + 2 + 2 + AddressBytes + 2 + SizeBytes + ChecksumBytes;
        FP_TRY(const auto header, readMetadataBlock(address, HeaderBytes, "BTHD"));
        MetadataNumbers head(header, PrefixBytes - 1);
        const std::uint64_t type = head.next(1);
        m_nodeBytes = head.next(4);
        m_recordBytes = head.next(2);
        const std::uint64_t depth = head.next(2);
        head.skip(2);
        const std::uint64_t root = head.next(AddressBytes), records = head.next(2);
        const std::uint64_t all = head.next(SizeBytes);
        if (type != FilteredRecords || m_recordBytes != EntryBytes + 8 * m_grid.dims.size()
            || !takeLevels(depth))
            return malformed("is no B-tree of filtered chunks");
        if (root != Undefined)
            FP_CHECK(readNode(root, records, depth));
        if (m_records == all)
            return {};
        return malformed("has " + std::to_string(m_records) + " records and says "
                         + std::to_string(all));
    }

private:
    static constexpr std::size_t NodeOverhead = PrefixBytes + ChecksumBytes;
    static constexpr std::uint64_t MostDepth = 32;

    /// How wide a pointer to a node of each level is: its address, its records, and above leaves all
    /// records below it.
    bool takeLevels(std::uint64_t depth)
    {
        if (depth > MostDepth || m_nodeBytes <= NodeOverhead + m_recordBytes)
            return false;
        const std::uint64_t inLeaf = (m_nodeBytes - NodeOverhead) / m_recordBytes;
        m_countBytes = bytesToHold(inLeaf);
        std::uint64_t below = inLeaf;
        m_totalBytes.push_back(0);
        for (std::uint64_t level = 1; level <= depth; ++level) {
            const std::uint64_t pointer = pointerBytes(level);
            if (m_nodeBytes <= NodeOverhead + pointer + m_recordBytes)
                return false;
            const std::uint64_t own =
                (m_nodeBytes - NodeOverhead - pointer) / (m_recordBytes + pointer);
            const auto product = checkedMul(own + 1, below);
            below = product ? checkedAdd(*product, own).value_or(Undefined) : Undefined;
            m_totalBytes.push_back(bytesToHold(below));
        }
        return true;
    }

    /// In a node of that level, to one of the level below.
    std::uint64_t pointerBytes(std::uint64_t level) const
    {
        return AddressBytes + m_countBytes + m_totalBytes[level - 1];
    }

    Status readNode(std::uint64_t address, std::uint64_t records, std::uint64_t level)
    {
        FP_CHECK(m_found.enter(address));
        const std::uint64_t pointer = level > 0 ? pointerBytes(level) : 0;
        const std::uint64_t size =
            NodeOverhead + records * m_recordBytes + (level > 0 ? (records + 1) * pointer : 0);
        if (size > m_nodeBytes)
            return malformed("has a node of more records than fit");
        FP_TRY(const auto node, readMetadataBlock(address, size, level > 0 ? "BTIN" : "BTLF"));
        if (node[PrefixBytes - 1] != std::byte(FilteredRecords))
            return malformed("has a node of another tree");
        m_records += records;
        MetadataNumbers numbers(node, PrefixBytes);
        for (std::uint64_t i = 0; i < records; ++i)
            FP_CHECK(readRecord(numbers));
        for (std::uint64_t i = 0; level > 0 && i <= records; ++i) {
            const std::uint64_t child = numbers.next(AddressBytes);
            const std::uint64_t count = numbers.next(m_countBytes);
            numbers.skip(m_totalBytes[level - 1]);
            FP_CHECK(readNode(child, count, level - 1));
        }
        return {};
    }

    Status readRecord(MetadataNumbers &numbers)
    {
        MetadataNumbers entry = numbers;
        numbers.skip(EntryBytes);
        std::vector<std::uint64_t> at;
        for (std::size_t i = 0; i < m_grid.dims.size(); ++i)
            at.push_back(numbers.next(8));
        return m_found.add(m_grid.numberOf(at), entry);
    }

    const ChunkGrid &m_grid;
    Found &m_found;
    std::uint64_t m_nodeBytes = 0, m_recordBytes = 0;
    std::uint64_t m_records = 0; ///< in the nodes that were read
    std::size_t m_countBytes = 0;
    std::vector<std::size_t> m_totalBytes; ///< by level of the node that is pointed to
};

} // namespace

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

Result<std::vector<Hdf5Chunk>> readChunkIndex(const NewerChunkIndex &index, const ChunkGrid &grid)
{
    Found found(grid);
    if (index.address == Undefined)
        return std::vector<Hdf5Chunk>();
    switch (index.kind) {
    case NewerChunkIndex::Kind::FixedArray:
        FP_CHECK(readFixedArray(index.address, grid, found));
        break;
    case NewerChunkIndex::Kind::ExtensibleArray:
        FP_CHECK(ExtensibleArray(grid, found).read(index.address));
        break;
    case NewerChunkIndex::Kind::BTree2: FP_CHECK(BTree2(grid, found).read(index.address)); break;
    }
    return found.take();
}

} // namespace forkpoint
