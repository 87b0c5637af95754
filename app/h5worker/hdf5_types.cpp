// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_types.h"

#include "app/h5worker/global_heap.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr int Depth = 16;
constexpr std::size_t Fields = 4096;
constexpr unsigned Rank = 32; ///< of libhdf5

/// A text that libhdf5 allocated.
std::string takeText(char *text)
{
    std::string taken = text == nullptr ? "" : text;
    H5free_memory(text);
    return taken;
}

bool isBool(const Hdf5Handle &type)
{
    if (H5Tget_nmembers(type.get()) != 2 || H5Tget_size(type.get()) != 1)
        return false;
    for (unsigned i = 0; i < 2; ++i) {
        const std::string name = takeText(H5Tget_member_name(type.get(), i));
        std::uint8_t value = 255;
        H5Tget_member_value(type.get(), i, &value);
        if (!(name == "FALSE" && value == 0) && !(name == "TRUE" && value == 1))
            return false;
    }
    return true;
}

void describeBits(const Hdf5Handle &type, Hdf5Scalar &scalar)
{
    const int offset = H5Tget_offset(type.get());
    scalar.bigEndian = H5Tget_order(type.get()) == H5T_ORDER_BE;
    scalar.precision = std::uint32_t(H5Tget_precision(type.get()));
    scalar.bitOffset = std::uint32_t(std::max(offset, 0));
}

Hdf5Scalar integer(const Hdf5Handle &type)
{
    Hdf5Scalar scalar;
    scalar.kind = H5Tget_sign(type.get()) == H5T_SGN_2 ? Hdf5Scalar::Kind::Signed
                                                       : Hdf5Scalar::Kind::Unsigned;
    describeBits(type, scalar);
    scalar.name = "integer";
    return scalar;
}

Hdf5Scalar real(const Hdf5Handle &type)
{
    Hdf5Scalar scalar;
    scalar.kind = Hdf5Scalar::Kind::Float;
    describeBits(type, scalar);
    std::size_t sign = 0, exponent = 0, exponentBits = 0, mantissa = 0, mantissaBits = 0;
    H5Tget_fields(type.get(), &sign, &exponent, &exponentBits, &mantissa, &mantissaBits);
    scalar.signPosition = std::uint32_t(sign);
    scalar.exponentPosition = std::uint32_t(exponent);
    scalar.exponentBits = std::uint32_t(exponentBits);
    scalar.mantissaPosition = std::uint32_t(mantissa);
    scalar.mantissaBits = std::uint32_t(mantissaBits);
    scalar.bias = H5Tget_ebias(type.get());
    scalar.impliedBit = H5Tget_norm(type.get()) == H5T_NORM_IMPLIED;
    if (const H5T_order_t order = H5Tget_order(type.get());
        order != H5T_ORDER_LE && order != H5T_ORDER_BE)
        scalar.kind = Hdf5Scalar::Kind::Opaque; // VAX
    scalar.name = "float";
    return scalar;
}

Hdf5Scalar opaque(std::string name)
{
    Hdf5Scalar scalar;
    scalar.name = std::move(name);
    return scalar;
}

/// {r, i} of two floats that fill the element, as h5py and others write complex numbers.
std::optional<Hdf5Scalar> complexOf(const Hdf5Handle &type)
{
    if (H5Tget_nmembers(type.get()) != 2)
        return std::nullopt;
    std::optional<Hdf5Scalar> parts[2];
    std::size_t end = 0;
    for (unsigned i = 0; i < 2; ++i) {
        const std::string name = takeText(H5Tget_member_name(type.get(), i));
        const Hdf5Handle part(H5Tget_member_type(type.get(), i));
        const bool isNamed = i == 0 ? name == "r" || name == "real" : name == "i" || name == "imag";
        if (!isNamed || H5Tget_class(part.get()) != H5T_FLOAT
            || H5Tget_member_offset(type.get(), i) != end)
            return std::nullopt;
        parts[i] = real(part);
        end += H5Tget_size(part.get());
    }
    if (end != H5Tget_size(type.get()) || parts[0] != parts[1]
        || parts[0]->kind != Hdf5Scalar::Kind::Float)
        return std::nullopt;
    parts[0]->kind = Hdf5Scalar::Kind::Complex;
    return parts[0];
}

/// libhdf5 tells sizes and offsets as they are in memory, where text of any length is a pointer.
/// Recursion is bounded by Depth: a deeper type is refused elsewhere.
std::uint64_t storedSize(const Hdf5Handle &type, int depth)
{
    const std::uint64_t size = H5Tget_size(type.get());
    if (depth > Depth)
        return size;
    switch (H5Tget_class(type.get())) {
    case H5T_STRING: return H5Tis_variable_str(type.get()) > 0 ? heapPlaceBytes() : size;
    case H5T_VLEN: return heapPlaceBytes();
    case H5T_ARRAY: {
        const Hdf5Handle base(H5Tget_super(type.get()));
        const std::uint64_t inMemory = base.valid() ? H5Tget_size(base.get()) : 0;
        return inMemory == 0 ? size : size / inMemory * storedSize(base, depth + 1);
    }
    case H5T_COMPOUND: {
        std::uint64_t stored = size;
        for (int i = 0; i < H5Tget_nmembers(type.get()); ++i) {
            const Hdf5Handle member(H5Tget_member_type(type.get(), unsigned(i)));
            stored += storedSize(member, depth + 1) - H5Tget_size(member.get());
        }
        return stored;
    }
    default: return size;
    }
}

Error tooMany(const char *what)
{
    return {ErrorCode::Limit, {}, {}, std::string("its type has too many ") + what};
}

class Flattener
{
public:
    Hdf5Layout layout;

    /// Recursion is bounded by Depth.
    Status add(const Hdf5Handle &type, Hdf5Field at, int depth)
    {
        if (!type.valid())
            return Error{ErrorCode::Malformed, {}, {}, hdf5Failure()};
        if (depth > Depth)
            return tooMany("levels");
        const H5T_class_t kind = H5Tget_class(type.get());
        if (kind == H5T_COMPOUND && !complexOf(type))
            return addMembers(type, at, depth);
        if (kind == H5T_ARRAY)
            return addArray(type, std::move(at), depth);
        if (layout.fields.size() == Fields)
            return tooMany("members");
        at.scalar = scalarOf(type, kind);
        at.scalar.size = std::uint32_t(H5Tget_size(type.get()));
        layout.fields.push_back(std::move(at));
        return {};
    }

private:
    Hdf5Scalar scalarOf(const Hdf5Handle &type, H5T_class_t kind)
    {
        const std::string size = std::to_string(H5Tget_size(type.get()));
        switch (kind) {
        case H5T_INTEGER: return integer(type);
        case H5T_FLOAT: return real(type);
        case H5T_COMPOUND: return *complexOf(type);
        case H5T_ENUM: {
            Hdf5Scalar scalar = integer(Hdf5Handle(H5Tget_super(type.get())));
            if (isBool(type))
                scalar.kind = Hdf5Scalar::Kind::Bool;
            return scalar;
        }
        case H5T_STRING:
            if (H5Tis_variable_str(type.get()) > 0)
                break;
            return opaque("|S" + size);
        case H5T_BITFIELD: return opaque("bits");
        case H5T_OPAQUE: return opaque("|V" + size);
        case H5T_TIME: return opaque("time" + size);
        default: break;
        }
        layout.hasElsewhere = true;
        if (kind == H5T_STRING)
            return opaque(Hdf5Scalar::VariableText);
        return opaque(kind == H5T_REFERENCE ? "reference" : "variable-length");
    }

    Status addMembers(const Hdf5Handle &type, const Hdf5Field &at, int depth)
    {
        const int count = H5Tget_nmembers(type.get());
        std::vector<std::pair<std::uint64_t, unsigned>> byOffset;
        for (unsigned i = 0; i < unsigned(std::max(count, 0)); ++i)
            byOffset.emplace_back(H5Tget_member_offset(type.get(), i), i);
        std::sort(byOffset.begin(), byOffset.end());
        std::uint64_t shift = 0; // of all members behind those that take another size in the file
        for (const auto &[offset, i] : byOffset) {
            Hdf5Field member = at;
            member.path.push_back(takeText(H5Tget_member_name(type.get(), i)));
            member.offset += offset + shift;
            const Hdf5Handle memberType(H5Tget_member_type(type.get(), i));
            if (!memberType.valid())
                return Error{ErrorCode::Malformed, {}, {}, hdf5Failure()};
            shift += storedSize(memberType, depth + 1) - H5Tget_size(memberType.get());
            FP_CHECK(add(memberType, std::move(member), depth + 1));
        }
        return {};
    }

    Status addArray(const Hdf5Handle &type, Hdf5Field at, int depth)
    {
        hsize_t dims[Rank] = {};
        const int rank = H5Tget_array_ndims(type.get());
        if (rank < 0 || unsigned(rank) > Rank || H5Tget_array_dims2(type.get(), dims) < 0)
            return Error{ErrorCode::Malformed, {}, {}, hdf5Failure()};
        const Hdf5Handle base(H5Tget_super(type.get()));
        std::uint64_t stride = base.valid() ? storedSize(base, depth + 1) : 0;
        const std::size_t outer = at.loops.size();
        for (int i = rank - 1; i >= 0; --i) {
            at.loops.insert(at.loops.begin() + std::ptrdiff_t(outer), {dims[i], stride});
            stride *= dims[i];
        }
        return add(base, std::move(at), depth + 1);
    }
};

} // namespace

Result<Hdf5Layout> layoutOf(const Hdf5Handle &type)
{
    Flattener flattener;
    FP_CHECK(flattener.add(type, {}, 0));
    flattener.layout.size = storedSize(type, 0);
    return std::move(flattener.layout);
}

Hdf5Handle memberTypeOf(const Hdf5Handle &dataset, const std::vector<std::string> &member)
{
    Hdf5Handle type(H5Dget_type(dataset.get()));
    for (const std::string &name : member) {
        const int number = H5Tget_member_index(type.get(), name.c_str());
        type = Hdf5Handle(H5Tget_member_type(type.get(), unsigned(std::max(number, 0))));
    }
    return type;
}

std::string memberName(const Hdf5Handle &type, unsigned number)
{
    return takeText(H5Tget_member_name(type.get(), number));
}

bool isValueType(const Hdf5Handle &type)
{
    switch (H5Tget_class(type.get())) {
    case H5T_STRING:
    case H5T_REFERENCE:
    case H5T_VLEN: return true;
    default: return false;
    }
}

std::uint64_t heapPlaceBytes()
{
    return sizeof(std::uint32_t) + GlobalHeapId::bytes();
}

std::string valueTypeOf(const Hdf5Handle &type)
{
    const H5T_class_t kind = H5Tget_class(type.get());
    if (kind == H5T_STRING)
        return H5Tis_variable_str(type.get()) > 0
            ? std::string(Hdf5Scalar::VariableText)
            : "text of " + std::to_string(H5Tget_size(type.get())) + " bytes";
    std::size_t size = 0;
    H5Tencode(type.get(), nullptr, &size);
    std::string encoded(size, '\0');
    if (size == 0 || H5Tencode(type.get(), encoded.data(), &size) < 0)
        encoded = "unknown";
    return (kind == H5T_REFERENCE ? Hdf5Value::Reference : "list ") + encoded;
}

} // namespace forkpoint
