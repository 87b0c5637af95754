// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_stored.h"

#include "app/h5worker/global_heap.h"
#include "app/h5worker/metadata_block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace forkpoint {

namespace {

/// Text or a list as an element says it: how many, and where.
constexpr std::size_t CountBytes = 4;

struct List
{
    std::uint64_t count = 0;
    std::vector<std::byte> bytes; ///< of `count` elements
};
using Lists = std::vector<List>;

/// `width`: bytes of an element of a list.
Result<Lists> readLists(ByteView elements, std::size_t width)
{
    Lists lists;
    std::uint64_t all = 0;
    const std::size_t placeBytes = CountBytes + GlobalHeapId::bytes();
    for (; elements.size() >= placeBytes; elements = elements.subspan(placeBytes)) {
        List list{MetadataNumbers(elements).next(CountBytes), {}};
        const GlobalHeapId id = globalHeapId(elements.subspan(CountBytes));
        if (id.address == 0)
            list.count = 0;                             // never written
        const std::uint64_t bytes = list.count * width; // at most 2^32 times a type's size, 2^32
        all += bytes;
        if (bytes > ElementBytes || all > ElementBytes)
            return Error{ErrorCode::Limit, {}, {}, "holds more text than is listed"};
        if (bytes > 0) {
            FP_TRY(list.bytes, readGlobalHeap(id, ElementBytes));
            if (list.bytes.size() < bytes)
                return Error{ErrorCode::Malformed,
                             {},
                             {},
                             "has a list that is longer than what is stored of it"};
            list.bytes.resize(bytes);
        }
        lists.push_back(std::move(list));
    }
    return lists;
}

/// libhdf5 gives back with free() what was not allocated by a function of the reader's.
void *allocated(ByteView bytes, std::size_t size)
{
    void *const memory = std::calloc(std::max<std::size_t>(size, 1), 1);
    if (memory != nullptr && !bytes.empty())
        std::memcpy(memory, bytes.data(), bytes.size());
    return memory;
}

Hdf5Reader textReader(Lists lists)
{
    return [lists = std::move(lists)](hid_t, void *out) -> herr_t {
        auto *const texts = static_cast<char **>(out);
        for (std::size_t i = 0; i < lists.size(); ++i) {
            const ByteView bytes(lists[i].bytes);
            texts[i] = static_cast<char *>(allocated(bytes, bytes.size() + 1));
            if (texts[i] == nullptr)
                return -1;
        }
        return 0;
    };
}

Hdf5Reader listReader(Lists lists, hid_t type)
{
    return [lists = std::move(lists), type](hid_t memory, void *out) -> herr_t {
        const Hdf5Handle stored(H5Tget_super(type)), wanted(H5Tget_super(memory));
        const std::size_t width = std::max(H5Tget_size(wanted.get()), H5Tget_size(stored.get()));
        for (std::size_t i = 0; i < lists.size(); ++i) {
            const List &list = lists[i];
            hvl_t &told = static_cast<hvl_t *>(out)[i];
            told = {list.count, nullptr};
            if (list.count == 0)
                continue;
            told.p = allocated(list.bytes, list.count * width);
            if (told.p == nullptr
                || H5Tconvert(stored.get(), wanted.get(), list.count, told.p, nullptr, H5P_DEFAULT)
                    < 0)
                return -1;
        }
        return 0;
    };
}

} // namespace

Result<Hdf5Reader> storedReader(const Hdf5Handle &type, ByteView elements)
{
    const H5T_class_t kind = H5Tget_class(type.get());
    if (kind == H5T_STRING && H5Tis_variable_str(type.get()) > 0) {
        FP_TRY(Lists texts, readLists(elements, 1));
        return textReader(std::move(texts));
    }
    if (kind == H5T_VLEN) {
        const Hdf5Handle base(H5Tget_super(type.get()));
        FP_TRY(Lists lists, readLists(elements, H5Tget_size(base.get())));
        return listReader(std::move(lists), type.get());
    }
    return Hdf5Reader([kept = std::vector<std::byte>(elements.begin(), elements.end())](
                          hid_t, void *out) -> herr_t {
        std::copy(kept.begin(), kept.end(), static_cast<std::byte *>(out));
        return 0;
    });
}

} // namespace forkpoint
