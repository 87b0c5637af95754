// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/dense_attributes.h"

#include "app/h5worker/btree2.h"
#include "app/h5worker/fractal_heap.h"
#include "app/h5worker/metadata_block.h"
#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/newer_datatype.h"
#include "app/h5worker/parent_file.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace forkpoint {

namespace {

/// Attributes of one object, of which fewer are told.
constexpr std::size_t MostAttributes = 200'000;
/// Bytes of the heap that are looked through for one object.
constexpr std::uint64_t MostHeapBytes = std::uint64_t(1) << 26;

Error tooMany()
{
    return {ErrorCode::Limit, {}, {}, "has more attributes than are looked at"};
}

/// HDF5 file format, "Version 2 B-tree, Type 8 Record": a heap ID, flags, order and hash.
Result<std::vector<FractalHeap::Place>> listPlaces(const FractalHeap &heap, std::uint64_t names)
{
    constexpr std::uint64_t ByName = 8, RecordBytes = 17, IsShared = 0x02;
    constexpr std::size_t IdBytes = 8;
    std::vector<FractalHeap::Place> places;
    FP_CHECK(walkBTree2(names, {ByName, RecordBytes}, [&](ByteView record) -> Status {
        if ((std::uint64_t(record[IdBytes]) & IsShared) != 0)
            return {}; // kept in a heap of the whole file
        if (places.size() == MostAttributes)
            return tooMany();
        FP_TRY(const auto place, heap.placeOf(record.first(IdBytes)));
        if (place)
            places.push_back(*place);
        return {};
    }));
    const auto byOffset = [](const auto &x, const auto &y) { return x.offset < y.offset; };
    std::sort(places.begin(), places.end(), byOffset);
    return places;
}

/// Messages of one block of a heap, and what of them was changed.
class HeapBlock
{
public:
    HeapBlock(const FractalHeap &heap, FractalHeap::Block block, std::vector<std::byte> bytes)
        : m_heap(heap),
          m_block(block),
          m_bytes(std::move(bytes))
    {
    }

    bool holds(const FractalHeap::Place &place) const
    {
        return place.offset >= m_block.offset && place.offset - m_block.offset < m_block.size;
    }

    void adapt(const FractalHeap::Place &place)
    {
        const std::size_t at = place.offset - m_block.offset;
        if (place.length > m_bytes.size() - at)
            return;
        const MutableByteView message = MutableByteView(m_bytes).subspan(at, place.length);
        for (const std::size_t version : newerAttributeVersions(message)) {
            message[version] = inKnownVersion(message[version]);
            patchParentFile(m_block.address + at + version, message.subspan(version, 1));
            m_isChanged = true;
        }
    }

    void finish()
    {
        if (!m_isChanged || !m_heap.hasChecksums())
            return;
        const std::size_t at = m_heap.checksumAt();
        std::fill_n(&m_bytes[at], sizeof(std::uint32_t), std::byte(0));
        const std::uint32_t checksum = metadataChecksum(m_bytes);
        patchParentFile(m_block.address + at, std::as_bytes(std::span(&checksum, 1)));
    }

private:
    const FractalHeap &m_heap;
    FractalHeap::Block m_block;
    std::vector<std::byte> m_bytes;
    bool m_isChanged = false;
};

/// Block after block, each as a whole: a checksum covers it.
Status adaptManaged(const FractalHeap &heap, const std::vector<FractalHeap::Place> &places)
{
    std::optional<HeapBlock> block;
    std::uint64_t read = 0;
    for (const FractalHeap::Place &place : places) {
        if (!block || !block->holds(place)) {
            if (block)
                block->finish();
            block.reset();
            FP_TRY(const auto found, heap.blockAt(place.offset));
            read += found.size;
            if (read > MostHeapBytes)
                return tooMany();
            FP_TRY(auto bytes, heap.read(found));
            block.emplace(heap, found, std::move(bytes));
        }
        block->adapt(place);
    }
    if (block)
        block->finish();
    return {};
}

/// An attribute that is too large for the heap lies in the file as it is, without a checksum.
Status adaptHuge(const FractalHeap &heap)
{
    constexpr std::uint64_t MostTypeBytes = 1u << 18; // the name and the datatype stand first
    std::uint64_t read = 0;
    return heap.walkHuge([&](FractalHeap::Range range) -> Status {
        std::vector<std::byte> message(std::min(range.length, MostTypeBytes));
        read += message.size();
        if (read > MostHeapBytes)
            return tooMany();
        if (!readParentFile(range.address, message))
            return {};
        for (const std::size_t version : newerAttributeVersions(message)) {
            const std::byte known = inKnownVersion(message[version]);
            patchParentFile(range.address + version, ByteView(&known, 1));
        }
        return {};
    });
}

Status adapt(const DenseAttributes &attributes)
{
    FP_TRY(const auto heap, FractalHeap::open(attributes.heap));
    FP_TRY(const auto places, listPlaces(heap, attributes.names));
    FP_CHECK(adaptManaged(heap, places));
    return adaptHuge(heap);
}

} // namespace

void adaptDenseAttributes(const DenseAttributes &attributes)
{
    // libhdf5 meets what is damaged or too large as it is in the file, and says so.
    static_cast<void>(adapt(attributes));
}

} // namespace forkpoint
