// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/chunk_index.h"

#include "app/h5worker/btree2.h"
#include "app/h5worker/chunk_array.h"

namespace forkpoint {

namespace {

constexpr std::uint64_t Undefined = UndefinedAddress;

/// Records that say the places of their chunks: HDF5 file format, "Version 2 B-tree, Type 11 Record".
Status readTree(std::uint64_t header, FoundChunks &found)
{
    constexpr std::uint64_t FilteredChunks = 11, PlaceBytes = 8;
    const std::size_t rank = found.grid().dims.size();
    const auto take = [&](ByteView record) {
        MetadataNumbers entry(record), place(record, chunkEntryBytes());
        std::vector<std::uint64_t> at;
        for (std::size_t i = 0; i < rank; ++i)
            at.push_back(place.next(PlaceBytes));
        return found.add(found.grid().numberOf(at), entry);
    };
    return walkBTree2(header, {FilteredChunks, chunkEntryBytes() + PlaceBytes * rank}, take);
}

Status read(const NewerChunkIndex &index, FoundChunks &found)
{
    switch (index.kind) {
    case NewerChunkIndex::Kind::FixedArray: return readFixedArray(index.address, found);
    case NewerChunkIndex::Kind::ExtensibleArray: return readExtensibleArray(index.address, found);
    case NewerChunkIndex::Kind::BTree2: return readTree(index.address, found);
    }
    return {};
}

} // namespace

Result<std::vector<Hdf5Chunk>> readChunkIndex(const NewerChunkIndex &index, const ChunkGrid &grid)
{
    FoundChunks found(grid);
    if (index.address != Undefined)
        FP_CHECK(read(index, found));
    return found.take();
}

} // namespace forkpoint
