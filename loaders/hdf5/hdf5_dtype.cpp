// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_dtype.h"

#include <algorithm>

namespace forkpoint {

namespace {

Hdf5DType unknown(const Hdf5Scalar &scalar, std::string note)
{
    return {opaqueDType(scalar.size), std::move(note)};
}

Hdf5DType integer(const Hdf5Scalar &scalar)
{
    const std::uint32_t bits = scalar.size * 8;
    const bool isSigned = scalar.kind == Hdf5Scalar::Kind::Signed;
    if (scalar.precision == bits && scalar.bitOffset == 0 && bits <= 64) {
        if (const auto dtype = dtypeByName((isSigned ? "int" : "uint") + std::to_string(bits)))
            return {*dtype, {}};
    }
    return unknown(scalar,
                   "a " + std::to_string(scalar.precision) + "-bit integer in "
                       + std::to_string(scalar.size) + " bytes, compared by its bytes");
}

/// Whether the bits are sign, exponent, mantissa from the highest on, with nothing between.
bool isPlain(const Hdf5Scalar &scalar, std::uint32_t bits)
{
    return scalar.impliedBit && scalar.precision == bits && scalar.bitOffset == 0
        && scalar.signPosition == bits - 1 && scalar.exponentPosition == scalar.mantissaBits
        && scalar.mantissaPosition == 0 && scalar.exponentBits + scalar.mantissaBits + 1 == bits;
}

/// HDF5 says of a float where its fields are; infinities and NaN are taken as IEEE has them.
Hdf5DType real(const Hdf5Scalar &scalar, ElementKind kind)
{
    const std::uint32_t parts = kind == ElementKind::Complex ? 2 : 1;
    const std::uint32_t bits = scalar.size * 8 / parts;
    const auto &all = allDTypes();
    const auto found = std::find_if(all.begin(), all.end(), [&](const DType &dtype) {
        return dtype.kind == kind && dtype.bits == scalar.size * 8 && dtype.packing == 1
            && dtype.layout.exponentBits == scalar.exponentBits
            && dtype.layout.mantissaBits == scalar.mantissaBits
            && dtype.layout.special == SpecialValues::Ieee && dtype.layout.hasSign
            && std::uint64_t(dtype.layout.bias) == scalar.bias;
    });
    if (found != all.end() && isPlain(scalar, bits))
        return {*found, {}};
    return unknown(scalar,
                   "a float of " + std::to_string(scalar.exponentBits) + " exponent and "
                       + std::to_string(scalar.mantissaBits) + " mantissa bits in "
                       + std::to_string(scalar.size) + " bytes, compared by its bytes");
}

Hdf5DType opaque(const Hdf5Scalar &scalar)
{
    if (scalar.name == "bits") {
        if (const auto dtype = dtypeByName("bits" + std::to_string(scalar.size * 8)))
            return {*dtype, {}};
    }
    if (scalar.name.starts_with("|S"))
        return {namedOpaqueDType(scalar.name, scalar.size), {}};
    const bool isVoid = scalar.name.starts_with("|V") || scalar.name.empty();
    return unknown(scalar, isVoid ? std::string() : scalar.name);
}

} // namespace

Hdf5DType dtypeOf(const Hdf5Scalar &scalar)
{
    switch (scalar.kind) {
    case Hdf5Scalar::Kind::Signed:
    case Hdf5Scalar::Kind::Unsigned: return integer(scalar);
    case Hdf5Scalar::Kind::Bool:
        return scalar.size == 1 ? Hdf5DType{*dtypeByName("bool"), {}} : integer(scalar);
    case Hdf5Scalar::Kind::Float: return real(scalar, ElementKind::Float);
    case Hdf5Scalar::Kind::Complex: return real(scalar, ElementKind::Complex);
    case Hdf5Scalar::Kind::Opaque: break;
    }
    return opaque(scalar);
}

} // namespace forkpoint
