// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_elements.h"

#include "app/h5worker/hdf5_references.h"
#include "app/h5worker/hdf5_types.h"
#include "model/bytes.h"
#include "model/format.h"

#include <algorithm>
#include <utility>

namespace forkpoint {

namespace {

using Data = decltype(Hdf5Value::data);

constexpr unsigned Rank = H5S_MAX_RANK;

Error malformed()
{
    return {ErrorCode::Malformed, {}, {}, hdf5Failure()};
}

Error tooMuchText()
{
    return {ErrorCode::Limit, {}, {}, "holds more text than is listed"};
}

/// What libhdf5 allocated behind elements, given back.
class Reclaimed
{
public:
    Reclaimed(const Hdf5Handle &memory, std::uint64_t count, void *data)
        : m_memory(memory),
          m_count(count),
          m_data(data)
    {
    }
    Reclaimed(const Reclaimed &) = delete;
    Reclaimed &operator=(const Reclaimed &) = delete;
    ~Reclaimed()
    {
        const Hdf5Handle space(H5Screate_simple(1, &m_count, nullptr));
        if (m_count > 0)
            H5Dvlen_reclaim(m_memory.get(), space.get(), H5P_DEFAULT, m_data);
    }

private:
    const Hdf5Handle &m_memory;
    hsize_t m_count;
    void *m_data;
};

std::string sized(const char *what, const Hdf5Handle &type)
{
    return std::string(what) + " of " + std::to_string(H5Tget_size(type.get())) + " bytes";
}

/// What elements without a plain value are.
std::string describe(const Hdf5Handle &type)
{
    switch (H5Tget_class(type.get())) {
    case H5T_INTEGER: return sized("integers", type);
    case H5T_FLOAT: return sized("floats", type);
    case H5T_BITFIELD: return sized("bits", type);
    case H5T_TIME: return sized("times", type);
    case H5T_ENUM: return sized("enumerations", type);
    case H5T_VLEN: return "lists";
    case H5T_OPAQUE: {
        char *const tag = H5Tget_tag(type.get());
        const std::string text = tag == nullptr || *tag == '\0'
            ? std::string()
            : ", '" + std::string(tag).substr(0, H5T_OPAQUE_TAG_MAX) + "'";
        H5free_memory(tag);
        return sized("opaque elements", type) + text;
    }
    default: return sized("elements", type);
    }
}

/// Bits beyond the precision are whatever the writer had in memory.
void clearPadding(const Hdf5Handle &type, std::vector<std::byte> &bytes)
{
    const int offset = H5Tget_offset(type.get());
    const std::size_t first = std::size_t(std::max(offset, 0));
    const std::size_t end = first + H5Tget_precision(type.get());
    const std::size_t size = H5Tget_size(type.get());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (std::size_t bit = 0; bit < 8; ++bit) {
            const std::size_t place = i % size * 8 + bit;
            if (place < first || place >= end)
                bytes[i] &= ~(std::byte(1) << bit);
        }
    }
}

/// Numbers that no plain type holds, by their bytes: the lowest first, whatever the file's order.
Result<Data> readWideNumbers(const Hdf5Holder &holder)
{
    const Hdf5Handle memory(H5Tcopy(holder.type.get()));
    std::vector<std::byte> bytes(holder.count * H5Tget_size(holder.type.get()));
    const bool isOrdered =
        H5Tget_order(memory.get()) != H5T_ORDER_BE || H5Tset_order(memory.get(), H5T_ORDER_LE) >= 0;
    if (!bytes.empty() && (!isOrdered || holder.read(memory.get(), bytes.data()) < 0))
        return malformed();
    clearPadding(memory, bytes);
    return Data(Hdf5Value::Opaque{describe(holder.type), std::move(bytes)});
}

/// Elements by their bytes as they are stored.
Result<Data> readBytes(const Hdf5Holder &holder)
{
    std::vector<std::byte> bytes(holder.count * H5Tget_size(holder.type.get()));
    if (!bytes.empty() && holder.read(holder.type.get(), bytes.data()) < 0)
        return malformed();
    return Data(Hdf5Value::Opaque{describe(holder.type), std::move(bytes)});
}

template <class T>
Result<Data> readNumbers(const Hdf5Holder &holder, hid_t memory)
{
    std::vector<T> numbers(holder.count);
    if (!numbers.empty() && holder.read(memory, numbers.data()) < 0)
        return malformed();
    return Data(std::move(numbers));
}

bool isWide(const Hdf5Handle &integer)
{
    return H5Tget_size(integer.get()) > sizeof(std::uint64_t);
}

bool isUnsigned(const Hdf5Handle &integer)
{
    return H5Tget_sign(integer.get()) == H5T_SGN_NONE;
}

/// Whether a double holds every value of that type.
bool fitsDouble(const Hdf5Handle &type)
{
    constexpr std::size_t MantissaBits = 52, ExponentBits = 11;
    std::size_t sign = 0, exponent = 0, exponentBits = 0, mantissa = 0, mantissaBits = 0;
    return H5Tget_fields(type.get(), &sign, &exponent, &exponentBits, &mantissa, &mantissaBits) >= 0
        && mantissaBits <= MantissaBits && exponentBits <= ExponentBits
        && H5Tget_size(type.get()) <= sizeof(double);
}

Result<Data> readIntegers(const Hdf5Holder &holder)
{
    if (isWide(holder.type))
        return readWideNumbers(holder);
    if (isUnsigned(holder.type))
        return readNumbers<std::uint64_t>(holder, H5T_NATIVE_UINT64);
    return readNumbers<std::int64_t>(holder, H5T_NATIVE_INT64);
}

/// Enumerations convert to themselves alone: their codes are converted after reading.
template <class T>
Result<Data> readCodes(const Hdf5Holder &holder, const Hdf5Handle &base, hid_t memory)
{
    std::vector<T> codes(holder.count);
    if (!codes.empty()
        && (holder.read(holder.type.get(), codes.data()) < 0
            || H5Tconvert(base.get(), memory, codes.size(), codes.data(), nullptr, H5P_DEFAULT)
                < 0))
        return malformed();
    return Data(std::move(codes));
}

Result<Data> readEnumeration(const Hdf5Holder &holder)
{
    const Hdf5Handle base(H5Tget_super(holder.type.get()));
    if (isWide(base))
        return readBytes(holder);
    FP_TRY(Data codes,
           isUnsigned(base) ? readCodes<std::uint64_t>(holder, base, H5T_NATIVE_UINT64)
                            : readCodes<std::int64_t>(holder, base, H5T_NATIVE_INT64));
    const auto layout = layoutOf(holder.type);
    if (!layout.ok() || layout->fields.front().scalar.kind != Hdf5Scalar::Kind::Bool)
        return codes;
    // A code that is neither stays what it is.
    return std::visit(
        [](auto &numbers) -> Data {
            if constexpr (requires { numbers.front() > 1; }) {
                const auto isTruth = [](auto code) { return code == 0 || code == 1; };
                if (std::all_of(numbers.begin(), numbers.end(), isTruth))
                    return std::vector<bool>(numbers.begin(), numbers.end());
            }
            return std::move(numbers);
        },
        codes);
}

Result<Data> readFixedText(const Hdf5Holder &holder)
{
    const std::size_t width = H5Tget_size(holder.type.get());
    std::string bytes(holder.count * width, '\0');
    if (!bytes.empty() && holder.read(holder.type.get(), bytes.data()) < 0)
        return malformed();
    const char pad = H5Tget_strpad(holder.type.get()) == H5T_STR_SPACEPAD ? ' ' : '\0';
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < holder.count; ++i) {
        std::string text = bytes.substr(i * width, width);
        if (H5Tget_strpad(holder.type.get()) == H5T_STR_NULLTERM)
            text = text.substr(0, text.find('\0'));
        else
            text.erase(text.find_last_not_of(pad) + 1);
        texts.push_back(std::move(text));
    }
    return Data(std::move(texts));
}

Result<Data> readVariableText(const Hdf5Holder &holder)
{
    std::vector<char *> pointers(holder.count, nullptr);
    const Hdf5Handle memory(H5Tcopy(holder.type.get()));
    if (!pointers.empty() && holder.read(memory.get(), pointers.data()) < 0)
        return malformed();
    const Reclaimed reclaimed(memory, holder.count, pointers.data());
    std::vector<std::string> texts;
    std::uint64_t bytes = 0;
    for (const char *const text : pointers) {
        texts.emplace_back(text == nullptr ? "" : text);
        bytes += texts.back().size() + sizeof(std::uint32_t);
        if (bytes > ElementBytes)
            return tooMuchText();
    }
    return Data(std::move(texts));
}

/// Lists as text, in the order of the file: "[1, 2, 3]". T is how an element is in memory.
template <class T, class Print>
Result<Data> readTextLists(const Hdf5Holder &holder, hid_t element, Print print)
{
    const Hdf5Handle memory(H5Tvlen_create(element));
    std::vector<hvl_t> lists(holder.count, hvl_t{0, nullptr});
    if (!lists.empty() && holder.read(memory.get(), lists.data()) < 0)
        return malformed();
    const Reclaimed reclaimed(memory, holder.count, lists.data());
    std::vector<std::string> texts;
    std::uint64_t bytes = 0;
    for (const hvl_t &list : lists) {
        std::string text = "[";
        for (std::size_t i = 0; i < list.len && text.size() <= ElementBytes; ++i) {
            text += i == 0 ? "" : ", ";
            text += print(static_cast<const T *>(list.p)[i]);
        }
        texts.push_back(text + "]");
        bytes += texts.back().size() + sizeof(std::uint32_t);
        if (bytes > ElementBytes)
            return tooMuchText();
    }
    return Data(std::move(texts));
}

void appendLength(std::uint64_t length, std::vector<std::byte> &bytes)
{
    for (std::size_t i = 0; i < sizeof length; ++i)
        bytes.push_back(std::byte(length >> (8 * i)));
}

/// Lists of what is no number: their lengths (64 bits) and bytes.
Result<Data> readByteLists(const Hdf5Holder &holder, const Hdf5Handle &base)
{
    const auto layout = layoutOf(base);
    if (!layout.ok())
        return layout.error();
    if (layout->hasElsewhere) {
        return Error{ErrorCode::Unsupported,
                     {},
                     {},
                     "lists of text of any length, of lists, or of references to regions are not "
                     "read"};
    }
    std::vector<hvl_t> lists(holder.count, hvl_t{0, nullptr});
    if (!lists.empty() && holder.read(holder.type.get(), lists.data()) < 0)
        return malformed();
    const Reclaimed reclaimed(holder.type, holder.count, lists.data());
    const std::size_t width = H5Tget_size(base.get());
    Hdf5Value::Opaque told{describe(holder.type), {}};
    for (const hvl_t &list : lists) {
        if (list.len
            > (ElementBytes - std::min<std::uint64_t>(told.bytes.size(), ElementBytes)) / width)
            return tooMuchText();
        appendLength(list.len, told.bytes);
        const auto *const bytes = static_cast<const std::byte *>(list.p);
        told.bytes.insert(told.bytes.end(), bytes, bytes + list.len * width);
    }
    return Data(std::move(told));
}

Result<Data> readLists(const Hdf5Holder &holder, hid_t file)
{
    const Hdf5Handle base(H5Tget_super(holder.type.get()));
    const auto digits = [](auto number) { return std::to_string(number); };
    const H5T_class_t kind = H5Tget_class(base.get());
    if (kind == H5T_FLOAT && fitsDouble(base))
        return readTextLists<double>(holder, H5T_NATIVE_DOUBLE,
                                     [](double number) { return shortest(number); });
    if (kind == H5T_INTEGER && !isWide(base) && isUnsigned(base))
        return readTextLists<std::uint64_t>(holder, H5T_NATIVE_UINT64, digits);
    if (kind == H5T_INTEGER && !isWide(base))
        return readTextLists<std::int64_t>(holder, H5T_NATIVE_INT64, digits);
    if (kind == H5T_REFERENCE && H5Tequal(base.get(), H5T_STD_REF_OBJ) > 0)
        return readTextLists<hobj_ref_t>(holder, H5T_STD_REF_OBJ, [file](hobj_ref_t reference) {
            return listedTargetOf(reference, file);
        });
    return readByteLists(holder, base);
}

/// References as they are stored, one after the other: how wide they are depends on the file and its writer.
Result<std::vector<std::byte>> storedReferences(const Hdf5Holder &holder)
{
    std::vector<std::byte> stored(holder.count * H5Tget_size(holder.type.get()));
    if (!stored.empty() && holder.read(holder.type.get(), stored.data()) < 0)
        return malformed();
    return stored;
}

/// Where references lead, as text that may be of regions; where one is long, all of them by their bytes.
Result<Data> readTargets(const Hdf5Holder &holder, hid_t file,
                         Result<std::string> (*targetOfStored)(ByteView, hid_t), const char *what)
{
    constexpr std::size_t LongText = 256;
    FP_TRY(const std::vector<std::byte> stored, storedReferences(holder));
    const std::size_t width = H5Tget_size(holder.type.get());
    std::vector<std::string> texts;
    std::vector<std::byte> bytes;
    bool isLong = false;
    for (std::size_t at = 0; at < stored.size(); at += width) {
        FP_TRY(std::string text, targetOfStored(ByteView(stored).subspan(at, width), file));
        isLong = isLong || text.size() > LongText;
        const ByteView view = asBytes(text);
        bytes.insert(bytes.end(), view.begin(), view.end());
        bytes.push_back(std::byte(0));
        if (bytes.size() + texts.size() * sizeof(std::uint32_t) > ElementBytes)
            return tooMuchText();
        texts.push_back(std::move(text));
    }
    if (isLong)
        return Data(Hdf5Value::Opaque{what, std::move(bytes)});
    return Data(std::move(texts));
}

/// Where references lead, by name; an object without a name is shown by its address.
Result<Data> readReferences(const Hdf5Holder &holder, hid_t file)
{
    const ReferenceKind kind = referenceKind(holder.type);
    if (kind == ReferenceKind::Region)
        return readTargets(holder, file, regionOf, "references to regions");
    if (kind == ReferenceKind::Any)
        return readTargets(holder, file, anyTargetOf, "references");
    if (kind != ReferenceKind::Object)
        return Error{ErrorCode::Unsupported, {}, {}, "is a reference of a kind that is not known"};
    FP_TRY(const std::vector<std::byte> stored, storedReferences(holder));
    const std::size_t width = H5Tget_size(holder.type.get());
    std::vector<std::string> targets;
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at < stored.size(); at += width) {
        targets.push_back(targetOf(objectAddress(ByteView(stored).subspan(at, width)), file));
        bytes += targets.back().size() + sizeof(std::uint32_t);
        if (bytes > ElementBytes)
            return tooMuchText();
    }
    return Data(std::move(targets));
}

} // namespace

Hdf5Holder memberOf(const Hdf5Holder &holder, unsigned number, const std::string &name)
{
    // libhdf5 reads the members that the type in memory names: here this one alone.
    const auto read = [&holder, name](hid_t memory, void *out) -> herr_t {
        const Hdf5Handle alone(H5Tcreate(H5T_COMPOUND, H5Tget_size(memory)));
        const herr_t inserted = H5Tinsert(alone.get(), name.c_str(), 0, memory);
        return inserted < 0 ? inserted : holder.read(alone.get(), out);
    };
    return {Hdf5Handle(H5Tget_member_type(holder.type.get(), number)), holder.count, holder.isList,
            read};
}

std::optional<Hdf5Holder> elementsOf(const Hdf5Holder &holder)
{
    std::vector<hsize_t> dims(Rank);
    const int rank = H5Tget_array_ndims(holder.type.get());
    Hdf5Handle base(H5Tget_super(holder.type.get()));
    const std::size_t width = base.valid() ? H5Tget_size(base.get()) : 0;
    if (rank <= 0 || unsigned(rank) > Rank || width == 0
        || H5Tget_array_dims2(holder.type.get(), dims.data()) < 0)
        return std::nullopt;
    const std::uint64_t count = holder.count * (H5Tget_size(holder.type.get()) / width);
    const auto read = [&holder, dims, rank](hid_t memory, void *out) -> herr_t {
        const Hdf5Handle array(H5Tarray_create2(memory, unsigned(rank), dims.data()));
        return array.valid() ? holder.read(array.get(), out) : -1;
    };
    return Hdf5Holder{std::move(base), count, true, read};
}

Result<Data> readElements(const Hdf5Holder &holder, hid_t file)
{
    switch (H5Tget_class(holder.type.get())) {
    case H5T_INTEGER: return readIntegers(holder);
    case H5T_FLOAT:
        return fitsDouble(holder.type) ? readNumbers<double>(holder, H5T_NATIVE_DOUBLE)
                                       : readWideNumbers(holder);
    case H5T_ENUM: return readEnumeration(holder);
    case H5T_STRING:
        return H5Tis_variable_str(holder.type.get()) > 0 ? readVariableText(holder)
                                                         : readFixedText(holder);
    case H5T_VLEN: return readLists(holder, file);
    case H5T_REFERENCE: return readReferences(holder, file);
    default: return readBytes(holder);
    }
}

} // namespace forkpoint
