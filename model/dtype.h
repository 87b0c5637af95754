// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// How the bits of one element are to be read.
enum class ElementKind : std::uint8_t {
    Opaque,    ///< bits without a numeric meaning here: void16, bits8, structured, text
    Bool,      ///< 0 or 1, one byte; other byte values are legal on disk and kept
    SignedInt, ///< two's complement
    UnsignedInt,
    Float,   ///< sign-magnitude, see FloatLayout
    Complex, ///< two Floats: real, imaginary
};

/// Which codes of a float format are not finite numbers.
enum class SpecialValues : std::uint8_t {
    Ieee,      ///< largest exponent holds Inf and NaN (float16, float8_e5m2, ...)
    FiniteNan, ///< "fn": no Inf, NaN is all exponent and mantissa bits set (float8_e4m3fn)
    Fnuz,      ///< no Inf, no -0: the code of -0 is the one NaN (float8_e4m3fnuz)
    None,      ///< every code is finite (float4_e2m1fn, float6_*)
    ScaleNan,  ///< float8_e8m0fnu: unsigned exponent, 0xFF is NaN, there is no zero
};

/// Layout of one float, most significant bit first: sign, exponent, mantissa.
struct FloatLayout
{
    std::uint8_t exponentBits = 0;
    std::uint8_t mantissaBits = 0;
    std::int16_t bias = 0;
    SpecialValues special = SpecialValues::Ieee;
    bool hasSign = true;

    constexpr bool operator==(const FloatLayout &) const = default;
};

/// An element type: a value, not an enumeration, so that a new format is a row of a table.
/// bits counts one decoded element; elements narrower than a byte are packed from the least
/// significant bit upwards (low nibble first).
struct DType
{
    std::string name; ///< as torch spells it, numpy's spelling where torch has none
    ElementKind kind = ElementKind::Opaque;
    std::uint32_t bits = 8; ///< of one decoded element; both parts of a complex one
    std::uint32_t packing =
        1;              ///< decoded elements per position of the shape (2 for float4_e2m1fn_x2)
    FloatLayout layout; ///< of a Float, and of each part of a Complex

    /// Bits of one position of the shape.
    std::uint64_t positionBits() const { return std::uint64_t(bits) * packing; }
    bool isFloating() const { return kind == ElementKind::Float || kind == ElementKind::Complex; }
    bool isInteger() const
    {
        return kind == ElementKind::Bool || kind == ElementKind::SignedInt
            || kind == ElementKind::UnsignedInt;
    }
    bool operator==(const DType &) const = default;
};

/// The type of that name, or nothing. Knows every name of the table in dtype.cpp.
std::optional<DType> dtypeByName(std::string_view name);

/// Opaque elements of a byte width that a file does not explain: "void16" for two bytes.
DType opaqueDType(std::uint64_t bytes);

/// Opaque elements with a name of the file's own (structured and text types of numpy).
DType namedOpaqueDType(std::string name, std::uint64_t bytes);

/// All built-in types, in the order of the table.
const std::vector<DType> &allDTypes();

/// Whether every value of `narrow` is exactly a value of `wide` (bfloat16 in float32; int8 in
/// int32; never between integers and floats). A type embeds in itself.
bool embedsExactly(const DType &narrow, const DType &wide);

} // namespace forkpoint
