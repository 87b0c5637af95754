// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 file format, "Extensible Array Index".
#include "app/h5worker/chunk_array.h"

#include <bit>

namespace forkpoint {

namespace {

/// Entries in the index block, then data blocks, the first named by the index block, the others by
/// super blocks of twice as many or twice as large ones each.
class ExtensibleArray : ChunkArray
{
public:
    ExtensibleArray(std::uint64_t header, FoundChunks &found)
        : ChunkArray(header, found),
          m_header(header)
    {
    }

    Status read()
    {
        constexpr std::size_t Statistics = 6;
        const std::size_t headerBytes = PrefixBytes + 6 + Statistics * metadataWidths().length
            + metadataWidths().address + ChecksumBytes;
        FP_TRY(const auto header, readMetadataBlock(m_header, headerBytes, "EAHD"));
        MetadataNumbers head(header, PrefixBytes - 1);
        const std::uint64_t client = head.next(1), entryBytes = head.next(1);
        m_bits = head.next(1);
        m_inIndex = head.next(1);
        m_smallest = head.next(1);
        m_pointers = head.next(1);
        const std::uint64_t pageBits = head.next(1);
        head.skip(Statistics * metadataWidths().length);
        const std::uint64_t indexAddress = head.nextAddress();
        const bool isSound = client == FilteredChunks && entryBytes == chunkEntryBytes()
            && m_bits > 0 && m_bits <= 64 && std::has_single_bit(m_smallest)
            && std::has_single_bit(m_pointers) && m_pointers > 1 && pageBits <= 31
            && m_bits >= std::uint64_t(std::countr_zero(m_smallest));
        if (!isSound)
            return malformedChunkIndex("is no extensible array of filtered chunks");
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
               readBlock(address,
                         blockHead() + m_inIndex * chunkEntryBytes()
                             + (direct + supers) * metadataWidths().address + ChecksumBytes,
                         "EAIB"));
        MetadataNumbers numbers(block, blockHead());
        MetadataNumbers addresses(block, blockHead() + m_inIndex * chunkEntryBytes());
        FP_CHECK(addEntries(numbers, 0, m_inIndex));
        m_first = m_inIndex;
        std::uint64_t named = 0;
        for (std::uint64_t u = 0; u < all && m_first < needed(); ++u) {
            if (u >= inIndex) {
                FP_CHECK(readSuperBlock(addresses.nextAddress(), u));
                continue;
            }
            for (std::uint64_t i = 0; i < blocksOf(u) && named < direct; ++i, ++named)
                FP_CHECK(readDataBlock(addresses.nextAddress(), entriesOf(u), {}));
        }
        return addresses.isWhole() ? Status()
                                   : malformedChunkIndex("names fewer blocks than it needs");
    }

    Status readSuperBlock(std::uint64_t address, std::uint64_t u)
    {
        const std::uint64_t blocks = blocksOf(u), entries = entriesOf(u);
        if (address == Undefined) {
            const auto all = checkedMul(blocks, entries);
            m_first = all ? checkedAdd(m_first, *all).value_or(Undefined) : Undefined;
            return {};
        }
        const bool isPaged = entries > m_pageEntries;
        const std::uint64_t bitmap = isPaged ? (entries / m_pageEntries + 7) / 8 : 0;
        FP_TRY(const auto block,
               readBlock(address,
                         blockHead() + offsetBytes() + blocks * bitmap
                             + blocks * metadataWidths().address + ChecksumBytes,
                         "EASB"));
        const ByteView bitmaps =
            ByteView(block).subspan(blockHead() + offsetBytes(), blocks * bitmap);
        MetadataNumbers addresses(block, blockHead() + offsetBytes() + bitmaps.size());
        for (std::uint64_t i = 0; i < blocks && m_first < needed(); ++i)
            FP_CHECK(readDataBlock(addresses.nextAddress(), entries,
                                   {bitmaps, i * (entries / m_pageEntries)}));
        return {};
    }

    Status readDataBlock(std::uint64_t address, std::uint64_t entries, WrittenPages written)
    {
        const std::uint64_t first = m_first;
        m_first = checkedAdd(m_first, entries).value_or(Undefined);
        if (address == Undefined || first >= needed())
            return {};
        const std::size_t head = blockHead() + offsetBytes();
        if (entries <= m_pageEntries) {
            FP_TRY(const auto block,
                   readBlock(address, head + entries * chunkEntryBytes() + ChecksumBytes, "EADB"));
            MetadataNumbers numbers(block, head);
            return addEntries(numbers, first, entries);
        }
        FP_CHECK(readBlock(address, head + ChecksumBytes, "EADB"));
        return addPages(address + head + ChecksumBytes, first, entries, m_pageEntries, written);
    }

    std::uint64_t m_header;
    // As the header gives them: bits of an entry's number, entries in the index block and in the
    // smallest data block, addresses in the smallest super block, entries of a page.
    std::uint64_t m_bits = 0, m_inIndex = 0, m_smallest = 0, m_pointers = 0, m_pageEntries = 0;
    std::uint64_t m_first = 0; ///< entry of the next data block
};

} // namespace

Status readExtensibleArray(std::uint64_t header, FoundChunks &found)
{
    return ExtensibleArray(header, found).read();
}

} // namespace forkpoint
