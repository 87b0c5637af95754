// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 file format, "Fixed Array Index": one block of entries, or one that says which of the pages
// behind it were written.
#include "app/h5worker/chunk_array.h"

namespace forkpoint {

Status readFixedArray(std::uint64_t header, FoundChunks &found)
{
    using Array = ChunkArray;
    const std::size_t headerBytes = Array::PrefixBytes + 2 + metadataWidths().length
        + metadataWidths().address + Array::ChecksumBytes;
    FP_TRY(const auto bytes, readMetadataBlock(header, headerBytes, "FAHD"));
    MetadataNumbers head(bytes, Array::PrefixBytes - 1);
    const std::uint64_t client = head.next(1), entryBytes = head.next(1), pageBits = head.next(1);
    const std::uint64_t count = head.nextLength();
    const std::uint64_t address = head.nextAddress();
    if (client != Array::FilteredChunks || entryBytes != chunkEntryBytes() || pageBits > 31)
        return malformedChunkIndex("is no fixed array of filtered chunks");
    if (address == Array::Undefined)
        return {};
    ChunkArray array(header, found);
    const std::uint64_t pageEntries = std::uint64_t(1) << pageBits;
    if (count <= pageEntries) {
        FP_TRY(const auto block,
               array.readBlock(
                   address, Array::blockHead() + count * chunkEntryBytes() + Array::ChecksumBytes,
                   "FADB"));
        MetadataNumbers numbers(block, Array::blockHead());
        return array.addEntries(numbers, 0, count);
    }
    const std::uint64_t pages = (count - 1) / pageEntries + 1;
    const std::uint64_t size =
        Array::blockHead() + pages / 8 + (pages % 8 != 0) + Array::ChecksumBytes;
    FP_TRY(const auto block, array.readBlock(address, size, "FADB"));
    return array.addPages(address + size, 0, count, pageEntries,
                          {ByteView(block).subspan(Array::blockHead())});
}

} // namespace forkpoint
