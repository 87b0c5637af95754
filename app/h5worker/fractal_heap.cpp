// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/fractal_heap.h"

#include "app/h5worker/btree2.h"
#include "app/h5worker/metadata_block.h"
#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/parent_file.h"

#include <algorithm>
#include <bit>

namespace forkpoint {

namespace {

/// Indirect blocks that are kept while a heap is read.
constexpr std::uint64_t KeptIndirectBytes = std::uint64_t(1) << 26;
constexpr std::uint64_t Undefined = UndefinedAddress;
constexpr std::size_t SignatureBytes = 4, ChecksumBytes = 4;
constexpr std::uint64_t MostBlockBytes = std::uint64_t(1) << 28;

/// Before the block's offset.
std::size_t blockHead()
{
    return SignatureBytes + 1 + metadataWidths().address;
}

std::uint64_t log2Of(std::uint64_t number)
{
    return std::uint64_t(std::countr_zero(number));
}

} // namespace

Error FractalHeap::malformed(const std::string &text) const
{
    return {ErrorCode::Malformed,
            {},
            {},
            "the fractal heap at byte " + std::to_string(m_address) + ' ' + text};
}

Result<FractalHeap> FractalHeap::open(std::uint64_t address)
{
    constexpr std::size_t FixedBytes = 26, Lengths = 12, Addresses = 3, Statistics = 8;
    const auto [addressBytes, lengthBytes] = metadataWidths();
    const std::size_t headerBytes = FixedBytes + Lengths * lengthBytes + Addresses * addressBytes;
    constexpr std::uint64_t Checksums = 2;
    FP_TRY(const auto header, readMetadataBlock(address, headerBytes, "FRHP"));
    MetadataNumbers head(header, SignatureBytes + 1);
    FractalHeap heap;
    heap.m_address = address;
    heap.m_idBytes = head.next(2);
    const std::uint64_t filterBytes = head.next(2);
    heap.m_hasChecksums = (head.next(1) & Checksums) != 0;
    heap.m_mostManaged = head.next(4);
    head.skip(lengthBytes); // the next number of a huge object
    heap.m_huge = head.nextAddress();
    head.skip((1 + Statistics) * lengthBytes + addressBytes); // free space, what it holds
    heap.m_width = head.next(2);
    heap.m_smallest = head.nextLength();
    heap.m_largest = head.nextLength();
    heap.m_spaceBits = head.next(2);
    head.skip(2); // rows that the root began with
    heap.m_root = head.nextAddress();
    heap.m_rows = head.next(2);
    if (filterBytes > 0)
        return Error{ErrorCode::Unsupported, {}, {}, "attributes in filtered heaps are not read"};
    const bool isSound = std::has_single_bit(heap.m_width) && std::has_single_bit(heap.m_smallest)
        && std::has_single_bit(heap.m_largest) && heap.m_smallest <= heap.m_largest
        && heap.m_largest <= MostBlockBytes && heap.m_spaceBits <= 64
        && log2Of(heap.m_width) + log2Of(heap.m_smallest) + heap.m_rows <= 64 && heap.m_idBytes > 1;
    if (!isSound)
        return heap.malformed("has sizes that cannot be");
    return heap;
}

Result<std::optional<FractalHeap::Place>> FractalHeap::placeOf(ByteView id) const
{
    constexpr std::uint64_t KindBits = 0xf0, Managed = 0x00, Huge = 0x10; // with the version, 0
    MetadataNumbers numbers(id);
    const std::uint64_t kind = numbers.next(1) & KindBits;
    if (kind == Huge)
        return std::optional<Place>();
    Place place;
    place.offset = numbers.next(offsetBytes());
    place.length = numbers.next(bytesToHold(std::min(m_largest, m_mostManaged)));
    if (kind == Managed && numbers.isWhole() && id.size() == m_idBytes)
        return std::optional(place);
    return malformed("has an ID of an unknown kind");
}

std::uint64_t FractalHeap::rowBytes(std::uint64_t row) const
{
    return m_smallest << (row > 0 ? row - 1 : 0);
}

std::uint64_t FractalHeap::rowOffset(std::uint64_t row) const
{
    return row > 0 ? m_width * rowBytes(row) : 0;
}

Result<FractalHeap::Block> FractalHeap::blockAt(std::uint64_t offset) const
{
    Block block{m_root, 0, m_smallest};
    const std::uint64_t directRows = log2Of(m_largest) - log2Of(m_smallest) + 2;
    std::uint64_t rows = m_rows;
    for (bool isDirect = rows == 0; !isDirect;) {
        FP_TRY(const auto bytes, readIndirect(block.address, block.offset, rows));
        const std::uint64_t within = offset - block.offset;
        std::uint64_t row = 0;
        while (row < rows && within >= rowOffset(row + 1))
            ++row;
        if (row == rows)
            return malformed("has no block for an object");
        const std::uint64_t column = (within - rowOffset(row)) / rowBytes(row);
        MetadataNumbers child(bytes,
                              blockHead() + offsetBytes()
                                  + (row * m_width + column) * metadataWidths().address);
        block = {child.nextAddress(), block.offset + rowOffset(row) + column * rowBytes(row),
                 rowBytes(row)};
        isDirect = row < directRows;
        if (isDirect)
            break;
        // Its rows together are as large as the block: always fewer than those above it.
        const std::uint64_t first = log2Of(m_smallest) + log2Of(m_width);
        if (log2Of(block.size) < first)
            return malformed("has an indirect block without a row");
        rows = log2Of(block.size) - first + 1;
    }
    if (block.address == Undefined || offset < block.offset || offset - block.offset >= block.size)
        return malformed("has no block for an object");
    return block;
}

Result<ByteView> FractalHeap::readIndirect(std::uint64_t address, std::uint64_t offset,
                                           std::uint64_t rows) const
{
    const std::tuple place(address, offset, rows);
    if (const auto known = m_indirect.find(place); known != m_indirect.end())
        return ByteView(known->second);
    const std::uint64_t size =
        blockHead() + offsetBytes() + rows * m_width * metadataWidths().address + ChecksumBytes;
    FP_TRY(auto bytes, readMetadataBlock(address, size, "FHIB"));
    MetadataNumbers head(bytes, SignatureBytes + 1);
    const std::uint64_t owner = head.nextAddress(), own = head.next(offsetBytes());
    if (owner != m_address || own != offset)
        return malformed("leads to the block of another one at byte " + std::to_string(address));
    if (m_indirectBytes + size > KeptIndirectBytes) {
        m_indirect.clear();
        m_indirectBytes = 0;
    }
    m_indirectBytes += size;
    return ByteView(m_indirect.emplace(place, std::move(bytes)).first->second);
}

std::size_t FractalHeap::checksumAt() const
{
    return blockHead() + offsetBytes();
}

Result<std::vector<std::byte>> FractalHeap::read(const Block &block) const
{
    std::vector<std::byte> bytes(block.size);
    if (block.size < checksumAt() + ChecksumBytes || !readParentFile(block.address, bytes))
        return malformed("has a block outside of the file, at byte "
                         + std::to_string(block.address));
    MetadataNumbers head(bytes, SignatureBytes + 1);
    const std::uint64_t owner = head.nextAddress(), offset = head.next(offsetBytes());
    const bool isOwn = asText(ByteView(bytes).first(SignatureBytes)) == "FHDB"
        && bytes[SignatureBytes] == std::byte(0) && owner == m_address && offset == block.offset;
    if (!isOwn)
        return malformed("has no direct block at byte " + std::to_string(block.address));
    if (!m_hasChecksums)
        return bytes;
    std::vector<std::byte> checked = bytes;
    std::fill_n(checked.begin() + std::ptrdiff_t(checksumAt()), ChecksumBytes, std::byte(0));
    if (metadataChecksum(checked) != loadLittle<std::uint32_t>(&bytes[checksumAt()]))
        return malformed("has a block of another checksum than it says, at byte "
                         + std::to_string(block.address));
    return bytes;
}

Status FractalHeap::walkHuge(const std::function<Status(Range range)> &take) const
{
    constexpr std::uint64_t ByNumber = 1;
    if (m_huge == Undefined)
        return {};
    // HDF5 file format, "Version 2 B-tree, Type 1 Record"
    return walkBTree2(m_huge, {ByNumber, metadataWidths().address + 2 * metadataWidths().length},
                      [&](ByteView record) {
                          MetadataNumbers numbers(record);
                          const std::uint64_t address = numbers.nextAddress();
                          return take({address, numbers.nextLength()});
                      });
}

} // namespace forkpoint
