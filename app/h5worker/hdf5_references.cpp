// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_references.h"

#include "app/h5worker/global_heap.h"
#include "app/h5worker/hdf5_names.h"
#include "app/h5worker/selection.h"

#include <algorithm>
#include <vector>

namespace forkpoint {

namespace {

/// Of a reference to an object that has no path.
std::string withoutPath(hobj_ref_t reference)
{
    return reference == 0 ? "null reference" : "address " + std::to_string(reference);
}

/// The object that stands next: its address behind the bytes that it takes.
Result<hobj_ref_t> nextObject(MetadataNumbers &numbers)
{
    const std::uint64_t bytes = numbers.next(1);
    if (bytes != metadataWidths().address)
        return Error{ErrorCode::Unsupported, {}, {}, "refers to objects by other than addresses"};
    return numbers.nextAddress();
}

} // namespace

ReferenceKind referenceKind(const Hdf5Handle &type)
{
    // Behind two bytes that H5Tencode() puts first, the datatype message: its class, then what is referred to.
    constexpr std::size_t KindAt = 3;
    constexpr std::byte KindBits{0x0f};
    std::size_t size = 0;
    if (H5Tencode(type.get(), nullptr, &size) < 0 || size <= KindAt)
        return ReferenceKind::Unknown;
    std::vector<std::byte> message(size);
    if (H5Tencode(type.get(), message.data(), &size) < 0)
        return ReferenceKind::Unknown;
    switch (std::uint8_t(message[KindAt] & KindBits)) {
    case 0: return ReferenceKind::Object;
    case 1: return ReferenceKind::Region;
    case 2:
    case 3:
    case 4: return ReferenceKind::Any;
    default: return ReferenceKind::Unknown;
    }
}

hobj_ref_t objectAddress(ByteView reference)
{
    return MetadataNumbers(reference).nextAddress();
}

std::string targetOf(hobj_ref_t reference, hid_t file)
{
    const std::string path = listedPath(reference, file);
    return path.empty() ? withoutPath(reference) : path;
}

std::string listedTargetOf(hobj_ref_t reference, hid_t file)
{
    const std::string path = listedPath(reference, file);
    if (path.empty())
        return withoutPath(reference);
    std::string quoted = "\"";
    for (const char c : path) {
        if (c == '"' || c == '\\')
            quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

Result<std::string> regionOf(ByteView reference, hid_t file)
{
    constexpr std::uint64_t MostBytes = 1u << 24;
    const GlobalHeapId id = globalHeapId(reference);
    if (id.address == 0)
        return targetOf(0, file);
    FP_TRY(const auto bytes, readGlobalHeap(id, MostBytes));
    MetadataNumbers numbers(bytes);
    const hobj_ref_t dataset = numbers.nextAddress();
    FP_TRY(const Hdf5Selection selection, decodeSelection(numbers));
    return targetOf(dataset, file) + ' ' + toText(selection);
}

Result<std::string> anyTargetOf(ByteView reference, hid_t file)
{
    enum : std::uint64_t { Object = 2, Region, Attribute };
    constexpr std::uint64_t MostBytes = 1u << 24;
    constexpr std::size_t CountBytes = 4;
    MetadataNumbers numbers(reference);
    const std::uint64_t kind = numbers.next(1), flags = numbers.next(1);
    const auto isSet = [](std::byte byte) { return byte != std::byte(0); };
    if (std::none_of(reference.begin(), reference.end(), isSet))
        return targetOf(0, file);
    if (kind < Object || kind > Attribute || flags != 0)
        return Error{ErrorCode::Unsupported,
                     {},
                     {},
                     "refers to another file, or is of a kind that is not known"};
    if (kind == Object) {
        FP_TRY(const hobj_ref_t object, nextObject(numbers));
        return targetOf(object, file);
    }
    numbers.skip(CountBytes);
    if (reference.size() < numbers.at() + GlobalHeapId::bytes())
        return Error{ErrorCode::Malformed, {}, {}, "is a reference that ends early"};
    FP_TRY(const auto bytes,
           readGlobalHeap(globalHeapId(reference.subspan(numbers.at())), MostBytes));
    MetadataNumbers content(bytes);
    FP_TRY(const hobj_ref_t object, nextObject(content));
    if (kind == Region) {
        content.skip(2 * CountBytes); // bytes of the selection, and its rank
        FP_TRY(const Hdf5Selection selection, decodeSelection(content));
        return targetOf(object, file) + ' ' + toText(selection);
    }
    const std::uint64_t length = content.next(2);
    if (!content.isWhole() || length > bytes.size() - content.at())
        return Error{ErrorCode::Malformed, {}, {}, "names an attribute that ends early"};
    const ByteView name = ByteView(bytes).subspan(content.at(), length);
    return targetOf(object, file) + " @ " + std::string(asText(name));
}

} // namespace forkpoint
