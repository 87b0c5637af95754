// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/dtype.h"

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

// Sources of the layouts: IEEE 754-2019 (float64, float32, float16); "FP8 Formats for Deep
// Learning" (arXiv:2209.05433) and its OCP specification (e4m3fn, e5m2); arXiv:2206.02915 (the
// fnuz types); OCP Microscaling Formats 1.0 (e8m0fnu, float6, float4); ml_dtypes (e3m4, e4m3,
// e4m3b11fnuz); torch for the spelling.
constexpr FloatLayout Float64{11, 52, 1023, SpecialValues::Ieee, true};
constexpr FloatLayout Float32{8, 23, 127, SpecialValues::Ieee, true};
constexpr FloatLayout Float16{5, 10, 15, SpecialValues::Ieee, true};
constexpr FloatLayout BFloat16{8, 7, 127, SpecialValues::Ieee, true};

DType floating(std::string name, FloatLayout layout, std::uint32_t packing = 1)
{
    const std::uint32_t bits =
        (layout.hasSign ? 1U : 0U) + layout.exponentBits + layout.mantissaBits;
    return {std::move(name), ElementKind::Float, bits, packing, layout};
}

DType complexOf(std::string name, std::uint32_t bits, FloatLayout layout)
{
    return {std::move(name), ElementKind::Complex, bits, 1, layout};
}

DType integer(std::string name, ElementKind kind, std::uint32_t bits, std::uint32_t packing = 1)
{
    return {std::move(name), kind, bits, packing, {}};
}

DType opaque(std::string name, std::uint32_t bits)
{
    return {std::move(name), ElementKind::Opaque, bits, 1, {}};
}

std::vector<DType> makeTable()
{
    using enum SpecialValues;
    using enum ElementKind;
    return {
        floating("float64", Float64),
        floating("float32", Float32),
        floating("float16", Float16),
        floating("bfloat16", BFloat16),
        floating("float8_e4m3fn", {4, 3, 7, FiniteNan, true}),
        floating("float8_e5m2", {5, 2, 15, Ieee, true}),
        floating("float8_e4m3fnuz", {4, 3, 8, Fnuz, true}),
        floating("float8_e5m2fnuz", {5, 2, 16, Fnuz, true}),
        floating("float8_e8m0fnu", {8, 0, 127, ScaleNan, false}),
        floating("float8_e3m4", {3, 4, 3, Ieee, true}),
        floating("float8_e4m3", {4, 3, 7, Ieee, true}),
        floating("float8_e4m3b11fnuz", {4, 3, 11, Fnuz, true}),
        floating("float6_e2m3", {2, 3, 1, None, true}),
        floating("float6_e3m2", {3, 2, 3, None, true}),
        floating("float4_e2m1fn_x2", {2, 1, 1, None, true}, 2),
        floating("float4_e2m1fn", {2, 1, 1, None, true}),
        integer("int8", SignedInt, 8),
        integer("int16", SignedInt, 16),
        integer("int32", SignedInt, 32),
        integer("int64", SignedInt, 64),
        integer("uint8", UnsignedInt, 8),
        integer("uint16", UnsignedInt, 16),
        integer("uint32", UnsignedInt, 32),
        integer("uint64", UnsignedInt, 64),
        integer("int4", SignedInt, 4),
        integer("int2", SignedInt, 2),
        integer("uint4", UnsignedInt, 4),
        integer("uint2", UnsignedInt, 2),
        integer("bool", Bool, 8),
        complexOf("complex32", 32, Float16),
        complexOf("complex64", 64, Float32),
        complexOf("complex128", 128, Float64),
        complexOf("bcomplex32", 32, BFloat16),
        opaque("bits8", 8),
        opaque("bits16", 16),
        opaque("bits1x8", 8),
        opaque("bits2x4", 8),
        opaque("bits4x2", 8),
        // Quantised types as the raw integers they store; scale and zero point are values apart.
        integer("qint8", SignedInt, 8),
        integer("quint8", UnsignedInt, 8),
        integer("qint32", SignedInt, 32),
        integer("quint4x2", UnsignedInt, 4, 2),
        integer("quint2x4", UnsignedInt, 2, 4),
    };
}

bool isQuantised(const DType &dtype)
{
    return dtype.isInteger() && dtype.name.starts_with('q');
}

/// Power of two that divides every finite value: the least positive one.
int lowestPower(const FloatLayout &layout)
{
    return layout.special == SpecialValues::ScaleNan ? -layout.bias
                                                     : 1 - layout.bias - layout.mantissaBits;
}

double largestFinite(const FloatLayout &layout)
{
    const int exponents = 1 << layout.exponentBits;
    int exponent = exponents - 1 - layout.bias; // of the largest exponent field
    int fraction = (1 << std::min<int>(layout.mantissaBits, 30)) - 1;
    switch (layout.special) {
    case SpecialValues::Ieee: --exponent; break;
    case SpecialValues::FiniteNan: --fraction; break;
    case SpecialValues::ScaleNan: --exponent; break;
    case SpecialValues::Fnuz:
    case SpecialValues::None: break;
    }
    const int fractionBits = std::min<int>(layout.mantissaBits, 30);
    return std::ldexp(1.0 + std::ldexp(fraction, -fractionBits), exponent);
}

bool hasInfinity(const FloatLayout &layout)
{
    return layout.special == SpecialValues::Ieee;
}

bool hasNan(const FloatLayout &layout)
{
    return layout.special != SpecialValues::None;
}

bool hasNegativeZero(const FloatLayout &layout)
{
    return layout.hasSign && layout.special != SpecialValues::Fnuz;
}

bool hasZero(const FloatLayout &layout)
{
    return layout.special != SpecialValues::ScaleNan;
}

bool layoutEmbeds(const FloatLayout &narrow, const FloatLayout &wide)
{
    const auto implies = [](bool a, bool b) { return !a || b; };
    return implies(hasInfinity(narrow), hasInfinity(wide)) && implies(hasNan(narrow), hasNan(wide))
        && implies(hasNegativeZero(narrow), hasNegativeZero(wide))
        && implies(hasZero(narrow), hasZero(wide)) && implies(narrow.hasSign, wide.hasSign)
        && narrow.mantissaBits <= wide.mantissaBits && lowestPower(narrow) >= lowestPower(wide)
        && largestFinite(narrow) <= largestFinite(wide);
}

bool integerEmbeds(const DType &narrow, const DType &wide)
{
    if (wide.kind == ElementKind::Bool || isQuantised(narrow) || isQuantised(wide))
        return false;
    if (narrow.kind == ElementKind::Bool)
        return wide.kind == ElementKind::UnsignedInt || wide.bits > 1;
    if (narrow.kind == wide.kind)
        return narrow.bits <= wide.bits;
    return narrow.kind == ElementKind::UnsignedInt && narrow.bits < wide.bits;
}

} // namespace

const std::vector<DType> &allDTypes()
{
    static const std::vector<DType> table = makeTable();
    return table;
}

std::optional<DType> dtypeByName(std::string_view name)
{
    for (const DType &dtype : allDTypes()) {
        if (dtype.name == name)
            return dtype;
    }
    return std::nullopt;
}

DType opaqueDType(std::uint64_t bytes)
{
    return namedOpaqueDType("void" + std::to_string(bytes * 8), bytes);
}

DType namedOpaqueDType(std::string name, std::uint64_t bytes)
{
    constexpr std::uint64_t MostBytes = 0xFFFFFFFFU / 8;
    return opaque(std::move(name), static_cast<std::uint32_t>(std::min(bytes, MostBytes) * 8));
}

bool embedsExactly(const DType &narrow, const DType &wide)
{
    if (narrow == wide)
        return true;
    if (narrow.isInteger() && wide.isInteger())
        return integerEmbeds(narrow, wide);
    return narrow.isFloating() && narrow.kind == wide.kind
        && layoutEmbeds(narrow.layout, wide.layout);
}

} // namespace forkpoint
