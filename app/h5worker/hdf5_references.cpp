// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_references.h"

#include "app/h5worker/global_heap.h"
#include "app/h5worker/hdf5_elements.h"
#include "app/h5worker/selection.h"

#include <unordered_map>
#include <vector>

namespace forkpoint {

namespace {

/// Paths that are kept; of more objects each is looked up anew.
constexpr std::size_t KeptPaths = 100'000;

/// Empty where there is none.
std::string pathOf(hobj_ref_t reference, hid_t file)
{
    static std::unordered_map<hobj_ref_t, std::string> kept;
    if (reference == 0)
        return {};
    if (const auto known = kept.find(reference); known != kept.end())
        return known->second;
    const Hdf5Handle object(H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &reference));
    std::string path = object.valid() ? nameOfObject(object.get()) : "";
    H5Eclear2(H5E_DEFAULT);
    if (kept.size() < KeptPaths)
        kept.emplace(reference, path);
    return path;
}

std::string addressOf(hobj_ref_t reference)
{
    return "address " + std::to_string(reference);
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
    const std::byte kind = message[KindAt] & KindBits;
    return kind == std::byte(0) ? ReferenceKind::Object
        : kind == std::byte(1)  ? ReferenceKind::Region
                                : ReferenceKind::Unknown;
}

hobj_ref_t objectAddress(ByteView reference)
{
    return MetadataNumbers(reference).nextAddress();
}

std::string nameOfObject(hid_t object)
{
    const ssize_t length = H5Iget_name(object, nullptr, 0);
    if (length <= 0 || std::uint64_t(length) > ElementBytes)
        return {};
    std::string name(std::size_t(length) + 1, '\0');
    H5Iget_name(object, name.data(), name.size());
    name.pop_back();
    return name;
}

std::string targetOf(hobj_ref_t reference, hid_t file)
{
    const std::string path = pathOf(reference, file);
    return path.empty() ? addressOf(reference) : path;
}

std::string listedTargetOf(hobj_ref_t reference, hid_t file)
{
    const std::string path = pathOf(reference, file);
    if (path.empty())
        return addressOf(reference);
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

} // namespace forkpoint
