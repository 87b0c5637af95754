// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/global_heap.h"

#include "app/h5worker/metadata_block.h"
#include "app/h5worker/parent_file.h"

#include <string>
#include <unordered_map>

namespace forkpoint {

namespace {

constexpr std::size_t CollectionHead = 16, ObjectHead = 16, SizeAt = 8;
/// Objects of one collection: their numbers have 16 bits.
constexpr std::size_t MostObjects = 65536;
/// Objects that are known at once, and collections: some 60 bytes each.
constexpr std::size_t KeptObjects = std::size_t(1) << 20, KeptCollections = std::size_t(1) << 16;

struct Range
{
    std::uint64_t address = 0, size = 0;
};
using Collection = std::unordered_map<std::uint64_t, Range>; ///< by the objects' numbers

Error malformed(std::uint64_t address, const std::string &what)
{
    return {ErrorCode::Malformed,
            {},
            {},
            "the global heap at byte " + std::to_string(address) + ' ' + what};
}

/// Object after object, each padded to 8 bytes; number 0 is the space that is left.
Result<Collection> readCollection(std::uint64_t address)
{
    std::vector<std::byte> bytes(CollectionHead);
    if (!readParentFile(address, bytes) || asText(ByteView(bytes).first(4)) != "GCOL"
        || bytes[4] != std::byte(1))
        return malformed(address, "is none of version 1");
    const std::uint64_t size = MetadataNumbers(bytes, SizeAt).nextLength();
    const auto end = checkedAdd(address, size);
    if (!end)
        return malformed(address, "cannot have " + std::to_string(size) + " bytes");
    Collection objects;
    std::uint64_t at = address + CollectionHead;
    for (std::size_t i = 0; i < MostObjects && at < *end && *end - at >= ObjectHead; ++i) {
        bytes.resize(ObjectHead);
        if (!readParentFile(at, bytes))
            return malformed(address, "lies outside of the file");
        MetadataNumbers head(bytes);
        const std::uint64_t number = head.next(2);
        head.skip(6); // how often it is referred to
        const std::uint64_t length = head.nextLength();
        at += ObjectHead;
        if (number == 0 || length > *end - at)
            break; // what is damaged hides what is behind it
        objects.emplace(number, Range{at, length});
        at += std::min((length + 7) / 8 * 8, *end - at);
    }
    return objects;
}

std::unordered_map<std::uint64_t, Collection> kept;
std::size_t keptObjects = 0;

} // namespace

void forgetGlobalHeaps()
{
    kept.clear();
    keptObjects = 0;
}

std::size_t GlobalHeapId::bytes()
{
    return metadataWidths().address + sizeof(std::uint32_t);
}

GlobalHeapId globalHeapId(ByteView bytes)
{
    MetadataNumbers numbers(bytes);
    const std::uint64_t address = numbers.nextAddress();
    return {address, numbers.next(4)};
}

Result<std::vector<std::byte>> readGlobalHeap(GlobalHeapId id, std::uint64_t most)
{
    auto known = kept.find(id.address);
    if (known == kept.end()) {
        FP_TRY(Collection read, readCollection(id.address));
        if (kept.size() == KeptCollections || keptObjects + read.size() > KeptObjects)
            forgetGlobalHeaps();
        keptObjects += read.size();
        known = kept.emplace(id.address, std::move(read)).first;
    }
    const auto object = known->second.find(id.number);
    if (object == known->second.end())
        return malformed(id.address, "has no object " + std::to_string(id.number));
    const Range range = object->second;
    if (range.size > most) {
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "may have " + std::to_string(most) + " bytes in a global heap, has "
                         + std::to_string(range.size)};
    }
    std::vector<std::byte> bytes(range.size);
    if (!readParentFile(range.address, bytes))
        return malformed(id.address, "lies outside of the file");
    return bytes;
}

} // namespace forkpoint
