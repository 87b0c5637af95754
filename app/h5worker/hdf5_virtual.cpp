// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_virtual.h"

namespace forkpoint {

namespace {

constexpr unsigned Rank = H5S_MAX_RANK;
constexpr std::size_t Mappings = 8192;
constexpr std::size_t NameBytes = 4096;
/// Names of all mappings of a dataset: they must fit into one message.
constexpr std::size_t AllNameBytes = 1u << 20;

struct Selection
{
    bool isAll = false, isEmpty = false;
    std::vector<std::uint64_t> begin, size;
};

Error unsupported(std::string text)
{
    return {ErrorCode::Unsupported, {}, {}, std::move(text)};
}

Result<Selection> selectionOf(const Hdf5Handle &space)
{
    Selection selection;
    const int rank = space.valid() ? H5Sget_simple_extent_ndims(space.get()) : -1;
    if (rank < 0)
        return Error{ErrorCode::Malformed, {}, {}, hdf5Failure()};
    hsize_t dims[Rank] = {}, start[Rank] = {}, stride[Rank] = {}, count[Rank] = {},
            block[Rank] = {};
    switch (H5Sget_select_type(space.get())) {
    case H5S_SEL_NONE: selection.isEmpty = true; return selection;
    case H5S_SEL_ALL:
        H5Sget_simple_extent_dims(space.get(), dims, nullptr);
        selection.isAll = true;
        selection.begin.assign(std::size_t(rank), 0);
        selection.size.assign(dims, dims + rank);
        return selection;
    case H5S_SEL_HYPERSLABS: break;
    default: return unsupported("maps single points");
    }
    if (H5Sis_regular_hyperslab(space.get()) <= 0
        || H5Sget_regular_hyperslab(space.get(), start, stride, count, block) < 0)
        return unsupported("maps something else than a box");
    for (int i = 0; i < rank; ++i) {
        if (count[i] == H5S_UNLIMITED || block[i] == H5S_UNLIMITED)
            return unsupported("grows with its sources");
        if (count[i] > 1 && stride[i] != block[i])
            return unsupported("maps elements with gaps between them");
        std::uint64_t size = 0;
        if (__builtin_mul_overflow(std::uint64_t(count[i]), std::uint64_t(block[i]), &size))
            return Error{ErrorCode::Malformed, {}, {}, "maps a box of more than 64 bits"};
        selection.begin.push_back(start[i]);
        selection.size.push_back(size);
    }
    return selection;
}

using GetName = ssize_t (*)(hid_t, size_t, char *, size_t);

Result<std::string> nameOf(GetName get, const Hdf5Handle &creation, std::size_t number)
{
    const ssize_t length = get(creation.get(), number, nullptr, 0);
    if (length < 0 || std::size_t(length) > NameBytes)
        return Error{ErrorCode::Malformed, {}, {}, "has a source without a name of usual length"};
    std::string name(std::size_t(length) + 1, '\0');
    get(creation.get(), number, name.data(), name.size());
    name.pop_back();
    return name;
}

} // namespace

Result<std::vector<Hdf5Mapping>> mappingsOf(const Hdf5Handle &creation)
{
    std::size_t count = 0, nameBytes = 0;
    if (H5Pget_virtual_count(creation.get(), &count) < 0)
        return Error{ErrorCode::Malformed, {}, {}, hdf5Failure()};
    if (count > Mappings)
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "may have at most " + std::to_string(Mappings) + " sources, has "
                         + std::to_string(count)};
    std::vector<Hdf5Mapping> mappings;
    for (std::size_t i = 0; i < count; ++i) {
        const Hdf5Handle space(H5Pget_virtual_vspace(creation.get(), i));
        const Hdf5Handle sourceSpace(H5Pget_virtual_srcspace(creation.get(), i));
        FP_TRY(Selection own, selectionOf(space));
        FP_TRY(Selection source, selectionOf(sourceSpace));
        if (own.isEmpty || source.isEmpty)
            continue;
        Hdf5Mapping mapping;
        FP_TRY(mapping.file, nameOf(H5Pget_virtual_filename, creation, i));
        FP_TRY(mapping.dataset, nameOf(H5Pget_virtual_dsetname, creation, i));
        nameBytes += mapping.file.size() + mapping.dataset.size();
        if (nameBytes > AllNameBytes)
            return Error{ErrorCode::Limit, {}, {}, "has names of sources that are too long"};
        mapping.begin = std::move(own.begin);
        mapping.size = std::move(own.size);
        if (!source.isAll) {
            mapping.sourceBegin = std::move(source.begin);
            mapping.sourceSize = std::move(source.size);
        }
        mappings.push_back(std::move(mapping));
    }
    return mappings;
}

} // namespace forkpoint
