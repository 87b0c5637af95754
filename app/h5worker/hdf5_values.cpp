// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_values.h"

#include "app/h5worker/hdf5_types.h"
#include "model/format.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace forkpoint {

namespace {

/// Elements of one attribute or dataset that are shown as values.
constexpr std::uint64_t Elements = 200'000;
/// Bytes of them, text included; less than a frame.
constexpr std::uint64_t ElementBytes = 2u << 20;
/// Attributes of one object.
constexpr std::size_t Attributes = 100'000;

/// An attribute or a dataset, as far as reading goes.
struct Holder
{
    Hdf5Handle type, space;
    std::function<herr_t(hid_t memory, void *out)> read;
};

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

/// What libhdf5 allocated behind elements, given back.
class Reclaimed
{
public:
    Reclaimed(const Hdf5Handle &memory, const Hdf5Handle &space, void *data)
        : m_memory(memory),
          m_space(space),
          m_data(data)
    {
    }
    Reclaimed(const Reclaimed &) = delete;
    Reclaimed &operator=(const Reclaimed &) = delete;
    ~Reclaimed() { H5Dvlen_reclaim(m_memory.get(), m_space.get(), H5P_DEFAULT, m_data); }

private:
    const Hdf5Handle &m_memory, &m_space;
    void *m_data;
};

using Data = decltype(Hdf5Value::data);

template <class T>
Result<Data> readNumbers(const Holder &holder, hid_t memory, std::uint64_t count)
{
    std::vector<T> numbers(count);
    if (count > 0 && holder.read(memory, numbers.data()) < 0)
        return malformed();
    return Data(std::move(numbers));
}

Result<Data> readBools(const Holder &holder, std::uint64_t count)
{
    std::vector<std::uint8_t> bytes(count);
    if (count > 0 && holder.read(holder.type.get(), bytes.data()) < 0)
        return malformed();
    std::vector<bool> bools(bytes.begin(), bytes.end());
    return Data(std::move(bools));
}

/// Enumerations convert to themselves alone: their codes are converted after reading.
Result<Data> readCodes(const Holder &holder, std::uint64_t count)
{
    std::vector<std::int64_t> codes(count);
    const Hdf5Handle base(H5Tget_super(holder.type.get()));
    if (count > 0
        && (holder.read(holder.type.get(), codes.data()) < 0
            || H5Tconvert(base.get(), H5T_NATIVE_INT64, count, codes.data(), nullptr, H5P_DEFAULT)
                < 0))
        return malformed();
    return Data(std::move(codes));
}

Result<Data> readFixedText(const Holder &holder, std::uint64_t count)
{
    const std::size_t width = H5Tget_size(holder.type.get());
    if (width == 0 || count > ElementBytes / width)
        return tooLarge(count);
    std::string bytes(count * width, '\0');
    if (count > 0 && holder.read(holder.type.get(), bytes.data()) < 0)
        return malformed();
    const char pad = H5Tget_strpad(holder.type.get()) == H5T_STR_SPACEPAD ? ' ' : '\0';
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string text = bytes.substr(i * width, width);
        if (H5Tget_strpad(holder.type.get()) == H5T_STR_NULLTERM)
            text = text.substr(0, text.find('\0'));
        else
            text.erase(text.find_last_not_of(pad) + 1);
        texts.push_back(std::move(text));
    }
    return Data(std::move(texts));
}

Result<Data> readVariableText(const Holder &holder, std::uint64_t count)
{
    std::vector<char *> pointers(count, nullptr);
    const Hdf5Handle memory(H5Tcopy(holder.type.get()));
    if (count > 0 && holder.read(memory.get(), pointers.data()) < 0)
        return malformed();
    const Reclaimed reclaimed(memory, holder.space, pointers.data());
    std::vector<std::string> texts;
    std::uint64_t bytes = 0;
    for (const char *const text : pointers) {
        texts.emplace_back(text == nullptr ? "" : text);
        bytes += texts.back().size() + sizeof(std::uint32_t);
        if (bytes > ElementBytes)
            return tooLarge(count);
    }
    return Data(std::move(texts));
}

/// Lists of numbers as text, in the order of the file: "[1, 2, 3]".
Result<Data> readLists(const Holder &holder, std::uint64_t count)
{
    const Hdf5Handle base(H5Tget_super(holder.type.get()));
    const H5T_class_t kind = H5Tget_class(base.get());
    if (kind != H5T_INTEGER && kind != H5T_FLOAT)
        return Data(Hdf5Value::Opaque{"variable-length elements"});
    const bool isReal = kind == H5T_FLOAT;
    const Hdf5Handle memory(H5Tvlen_create(isReal ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64));
    std::vector<hvl_t> lists(count, hvl_t{0, nullptr});
    if (count > 0 && holder.read(memory.get(), lists.data()) < 0)
        return malformed();
    const Reclaimed reclaimed(memory, holder.space, lists.data());
    std::vector<std::string> texts;
    std::uint64_t bytes = 0;
    for (const hvl_t &list : lists) {
        std::string text = "[";
        for (std::size_t i = 0; i < list.len && text.size() < ElementBytes; ++i) {
            text += i == 0 ? "" : ", ";
            text += isReal ? shortest(static_cast<const double *>(list.p)[i])
                           : std::to_string(static_cast<const std::int64_t *>(list.p)[i]);
        }
        texts.push_back(text + "]");
        bytes += texts.back().size() + sizeof(std::uint32_t);
        if (bytes > ElementBytes)
            return tooLarge(count);
    }
    return Data(std::move(texts));
}

std::string nameOf(hid_t object)
{
    const ssize_t length = H5Iget_name(object, nullptr, 0);
    if (length <= 0 || std::uint64_t(length) > ElementBytes)
        return {};
    std::string name(std::size_t(length) + 1, '\0');
    H5Iget_name(object, name.data(), name.size());
    name.pop_back();
    return name;
}

/// Where references lead, by name; an object without a name is shown by its address.
Result<Data> readReferences(const Holder &holder, hid_t file, std::uint64_t count)
{
    if (H5Tequal(holder.type.get(), H5T_STD_REF_OBJ) <= 0)
        return Data(Hdf5Value::Opaque{"a reference to a region"});
    std::vector<hobj_ref_t> references(count);
    if (count > 0 && holder.read(H5T_STD_REF_OBJ, references.data()) < 0)
        return malformed();
    std::vector<std::string> targets;
    for (const hobj_ref_t &reference : references) {
        const Hdf5Handle object(reference == 0
                                    ? H5I_INVALID_HID
                                    : H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &reference));
        const std::string name = object.valid() ? nameOf(object.get()) : "";
        targets.push_back(name.empty() ? "address " + std::to_string(reference) : name);
        H5Eclear2(H5E_DEFAULT);
    }
    return Data(std::move(targets));
}

Result<Data> readData(const Holder &holder, hid_t file, std::uint64_t count)
{
    const H5T_class_t kind = H5Tget_class(holder.type.get());
    switch (kind) {
    case H5T_INTEGER:
        if (H5Tget_sign(holder.type.get()) == H5T_SGN_NONE)
            return readNumbers<std::uint64_t>(holder, H5T_NATIVE_UINT64, count);
        return readNumbers<std::int64_t>(holder, H5T_NATIVE_INT64, count);
    case H5T_FLOAT: return readNumbers<double>(holder, H5T_NATIVE_DOUBLE, count);
    case H5T_ENUM: {
        const auto layout = layoutOf(holder.type);
        if (layout.ok() && layout->fields.front().scalar.kind == Hdf5Scalar::Kind::Bool)
            return readBools(holder, count);
        return readCodes(holder, count);
    }
    case H5T_STRING:
        return H5Tis_variable_str(holder.type.get()) > 0 ? readVariableText(holder, count)
                                                         : readFixedText(holder, count);
    case H5T_VLEN: return readLists(holder, count);
    case H5T_REFERENCE: return readReferences(holder, file, count);
    default: return Data(Hdf5Value::Opaque{"a value of a compound, array or opaque type"});
    }
}

/// Reads so many elements.
using Read = std::function<Result<Data>(const Holder &, std::uint64_t)>;

/// The value of an attribute or dataset, under `path`.
Result<Hdf5Value> readValue(const Holder &holder, const Read &read, const Hdf5Path &path)
{
    Hdf5Value value;
    value.path = path;
    if (!holder.type.valid() || !holder.space.valid())
        return malformed();
    const H5S_class_t kind = H5Sget_simple_extent_type(holder.space.get());
    if (kind == H5S_NULL)
        return value;
    value.isList = kind == H5S_SIMPLE && H5Sget_simple_extent_ndims(holder.space.get()) > 0;
    const hssize_t points = H5Sget_simple_extent_npoints(holder.space.get());
    if (points < 0)
        return malformed();
    const auto count = std::uint64_t(points);
    const std::size_t size = H5Tget_size(holder.type.get());
    if (count > Elements || size > ElementBytes || count * size > ElementBytes)
        return tooLarge(count);
    FP_TRY(value.data, read(holder, count));
    return value;
}

/// By the type of the elements.
Read readBelow(hid_t file)
{
    return
        [file](const Holder &holder, std::uint64_t count) { return readData(holder, file, count); };
}

void tellValue(WorkerLink &link, const Holder &holder, const Read &read, const Hdf5Path &path)
{
    auto value = readValue(holder, read, path);
    if (value.ok())
        link.tell(*value);
    else
        link.tell(Hdf5Problem{Severity::Error, value.error().code, path, false, true,
                              value.error().text});
}

Holder attributeHolder(const Hdf5Handle &attribute)
{
    return {Hdf5Handle(H5Aget_type(attribute.get())), Hdf5Handle(H5Aget_space(attribute.get())),
            [id = attribute.get()](hid_t memory, void *out) { return H5Aread(id, memory, out); }};
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
        tellValue(link, attributeHolder(attribute), readBelow(object.get()), own);
        H5Eclear2(H5E_DEFAULT);
    }
}

void tellElements(WorkerLink &link, const Hdf5Handle &dataset, const Hdf5Path &path)
{
    const Holder holder = {Hdf5Handle(H5Dget_type(dataset.get())),
                           Hdf5Handle(H5Dget_space(dataset.get())),
                           [id = dataset.get()](hid_t memory, void *out) {
                               return H5Dread(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
                           }};
    tellValue(link, holder, readBelow(dataset.get()), path);
}

void tellMemberText(WorkerLink &link, const Hdf5Handle &dataset, const Hdf5Path &path,
                    const std::vector<std::string> &member)
{
    Hdf5Path own = path;
    own.insert(own.end(), member.begin(), member.end());
    Hdf5Handle type(H5Dget_type(dataset.get()));
    for (const std::string &name : member) {
        const int number = H5Tget_member_index(type.get(), name.c_str());
        type = Hdf5Handle(H5Tget_member_type(type.get(), unsigned(std::max(number, 0))));
    }
    // libhdf5 reads the members that the type in memory names: here this one alone.
    for (std::size_t i = member.size(); type.valid() && i-- > 0;) {
        Hdf5Handle outer(H5Tcreate(H5T_COMPOUND, H5Tget_size(type.get())));
        H5Tinsert(outer.get(), member[i].c_str(), 0, type.get());
        type = std::move(outer);
    }
    const Holder holder = {std::move(type), Hdf5Handle(H5Dget_space(dataset.get())),
                           [id = dataset.get()](hid_t memory, void *out) {
                               return H5Dread(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
                           }};
    tellValue(link, holder, readVariableText, own);
}

std::string textAttribute(const Hdf5Handle &object, const char *name)
{
    if (H5Aexists(object.get(), name) <= 0)
        return {};
    const Hdf5Handle attribute(H5Aopen(object.get(), name, H5P_DEFAULT));
    const Holder holder = attributeHolder(attribute);
    if (!holder.type.valid() || H5Tget_class(holder.type.get()) != H5T_STRING)
        return {};
    const auto value = readValue(holder, readBelow(object.get()), {});
    const auto *const texts =
        value.ok() ? std::get_if<std::vector<std::string>>(&value->data) : nullptr;
    return texts != nullptr && texts->size() == 1 ? texts->front() : std::string();
}

} // namespace forkpoint
