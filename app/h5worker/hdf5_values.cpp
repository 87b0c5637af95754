// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_values.h"

#include "app/h5worker/hdf5_elements.h"
#include "app/h5worker/hdf5_types.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Elements of one attribute or dataset that are shown as values.
constexpr std::uint64_t Elements = 200'000;
/// Attributes of one object.
constexpr std::size_t Attributes = 100'000;

Error malformed()
{
    return {ErrorCode::Malformed, {}, {}, hdf5Failure()};
}

Error tooLarge(std::uint64_t count)
{
    return {ErrorCode::Limit,
            {},
            {},
            "holds " + std::to_string(count)
                + " elements of text or other values, too many to list"};
}

void complain(WorkerLink &link, const Hdf5Path &path, const Error &error)
{
    link.tell(Hdf5Problem{Severity::Error, error.code, path, false, true, error.text});
}

/// An attribute or a dataset; nothing to be read where it has no extent.
struct Owner
{
    Hdf5Holder holder;
    bool isNull = false;
};

Result<Owner> ownerOf(Hdf5Handle type, const Hdf5Handle &space, Hdf5Reader read)
{
    if (!type.valid() || !space.valid())
        return malformed();
    Owner owner{{std::move(type), 0, false, std::move(read)}};
    const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
    owner.isNull = kind == H5S_NULL;
    if (owner.isNull)
        return owner;
    owner.holder.isList = kind == H5S_SIMPLE && H5Sget_simple_extent_ndims(space.get()) > 0;
    const hssize_t points = H5Sget_simple_extent_npoints(space.get());
    if (points < 0)
        return malformed();
    owner.holder.count = std::uint64_t(points);
    const std::size_t size = H5Tget_size(owner.holder.type.get());
    if (size == 0)
        return malformed();
    if (owner.holder.count > Elements || owner.holder.count > ElementBytes / size)
        return tooLarge(owner.holder.count);
    return owner;
}

Result<Owner> attributeOwner(const Hdf5Handle &attribute)
{
    return ownerOf(
        Hdf5Handle(H5Aget_type(attribute.get())), Hdf5Handle(H5Aget_space(attribute.get())),
        [id = attribute.get()](hid_t memory, void *out) { return H5Aread(id, memory, out); });
}

/// Compounds and arrays are told by their parts. How deep these lie was checked before.
void tellParts(WorkerLink &link, const Hdf5Holder &holder, hid_t file, const Hdf5Path &path)
{
    const H5T_class_t kind = H5Tget_class(holder.type.get());
    if (kind == H5T_COMPOUND) {
        const int count = H5Tget_nmembers(holder.type.get());
        for (unsigned i = 0; i < unsigned(std::max(count, 0)); ++i) {
            Hdf5Path own = path;
            own.push_back(memberName(holder.type, i));
            tellParts(link, memberOf(holder, i, own.back()), file, own);
        }
        return;
    }
    if (kind == H5T_ARRAY) {
        const auto elements = elementsOf(holder);
        if (elements && elements->count <= Elements)
            return tellParts(link, *elements, file, path);
        return complain(link, path, elements ? tooLarge(elements->count) : malformed());
    }
    auto data = readElements(holder, file);
    if (data.ok())
        link.tell(Hdf5Value{path, holder.dataset, holder.isList, std::move(*data)});
    else
        complain(link, path, data.error());
    H5Eclear2(H5E_DEFAULT);
}

void tellValue(WorkerLink &link, const Result<Owner> &owner, hid_t file, const Hdf5Path &path)
{
    if (!owner.ok())
        return complain(link, path, owner.error());
    if (owner->isNull)
        return link.tell(Hdf5Value{path, {}, false, Hdf5Value::Nothing{}});
    if (const auto layout = layoutOf(owner->holder.type); !layout.ok())
        return complain(link, path, layout.error());
    tellParts(link, owner->holder, file, path);
}

herr_t collectName(hid_t, const char *name, const H5A_info_t *, void *data)
{
    auto &names = *static_cast<std::vector<std::string> *>(data);
    if (names.size() == Attributes)
        return 1;
    names.emplace_back(name);
    return 0;
}

} // namespace

void tellAttributes(WorkerLink &link, const Hdf5Handle &object, const Hdf5Path &path)
{
    std::vector<std::string> names;
    hsize_t position = 0;
    const herr_t stopped =
        H5Aiterate2(object.get(), H5_INDEX_NAME, H5_ITER_INC, &position, collectName, &names);
    if (stopped != 0) {
        const std::string why = stopped < 0 ? hdf5Failure() : "has more attributes than are listed";
        link.tell(Hdf5Problem{Severity::Error, ErrorCode::Malformed, path, false, true,
                              "its attributes: " + why});
    }
    for (const std::string &name : names) {
        Hdf5Path own = path;
        own.push_back(name);
        const Hdf5Handle attribute(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT));
        tellValue(link, attributeOwner(attribute), object.get(), own);
        H5Eclear2(H5E_DEFAULT);
    }
}

void tellElements(WorkerLink &link, const Hdf5Handle &dataset, Hdf5Handle type,
                  const Hdf5Path &path, Hdf5Reader read)
{
    const Hdf5Handle space(H5Dget_space(dataset.get()));
    const bool isValue = isValueType(type);
    const std::string name = isValue ? valueTypeOf(type) : std::string();
    auto owner = ownerOf(std::move(type), space, std::move(read));
    if (owner.ok() && isValue) {
        std::vector<hsize_t> dims(H5S_MAX_RANK);
        const int rank = H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
        dims.resize(std::size_t(std::max(rank, 0)));
        owner->holder.dataset = Hdf5Value::Elements{{dims.begin(), dims.end()}, name};
    }
    tellValue(link, owner, dataset.get(), path);
}

void tellType(WorkerLink &link, const Hdf5Handle &type, const Hdf5Path &path)
{
    std::size_t size = 0;
    if (H5Tencode(type.get(), nullptr, &size) < 0)
        return complain(link, path, malformed());
    std::vector<std::byte> bytes(std::min<std::size_t>(size, ElementBytes));
    if (size > bytes.size())
        return complain(link, path, {ErrorCode::Limit, {}, {}, "is too long a datatype"});
    if (H5Tencode(type.get(), bytes.data(), &size) < 0)
        return complain(link, path, malformed());
    link.tell(
        Hdf5Value{path, {}, false, Hdf5Value::Opaque{"a committed datatype", std::move(bytes)}});
}

std::string textAttribute(const Hdf5Handle &object, const char *name)
{
    if (H5Aexists(object.get(), name) <= 0)
        return {};
    const Hdf5Handle attribute(H5Aopen(object.get(), name, H5P_DEFAULT));
    const auto owner = attributeOwner(attribute);
    if (!owner.ok() || owner->isNull || H5Tget_class(owner->holder.type.get()) != H5T_STRING)
        return {};
    const auto data = readElements(owner->holder, object.get());
    const auto *const texts = data.ok() ? std::get_if<std::vector<std::string>>(&*data) : nullptr;
    return texts != nullptr && texts->size() == 1 ? texts->front() : std::string();
}

} // namespace forkpoint
