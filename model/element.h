// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/dtype.h"
#include "model/shape.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace forkpoint {

struct ElementPlaces;

/// The numeric value of one part of an element: nothing for opaque types.
using Scalar = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double>;

/// One decoded element: one part, or two for a complex one.
struct ElementValue
{
    Scalar real;
    Scalar imaginary; ///< monostate unless complex
};

/// One row of an element table.
struct ElementRow
{
    Index index = 0;
    std::vector<std::byte> bitsA, bitsB; ///< the element, little-endian; sub-byte types in one byte
    ElementValue a, b;
    ElementValue difference;          ///< b - a: float64 for floats, exact integer where it fits
    std::optional<std::uint64_t> ulp; ///< floats with two finite sides; the larger of two parts
    bool differs = false;             ///< the stored bits differ
    /// Where it is stored, in rows that a reader gave places.
    std::shared_ptr<const ElementPlaces> places;
};

/// Decodes the element `index` of a logical stream that begins at element 0 of `stream`.
ElementValue decodeElement(const DType &dtype, ByteView stream, Index index);

/// The raw bits of that element, little-endian, in the fewest whole bytes.
std::vector<std::byte> elementBits(const DType &dtype, ByteView stream, Index index);

/// Hexadecimal digits of the bits, most significant first: "3f800000"; complex parts apart by "_".
std::string bitsToHex(const DType &dtype, const std::vector<std::byte> &bits);

/// The bits in groups sign, exponent, mantissa ("0 01111111 000..."), most significant first.
std::string bitsToBinary(const DType &dtype, const std::vector<std::byte> &bits);

/// Builds a row from the two raw elements of one dtype.
ElementRow makeElementRow(const DType &dtype, Index index, std::vector<std::byte> a,
                          std::vector<std::byte> b);

/// Rewrites the elements of `in` (whole elements of `narrow`) as elements of `wide`, exactly;
/// embedsExactly(narrow, wide) must hold. NaN stays NaN: its sign and, between formats that have
/// payloads, its payload are kept, else it becomes the quiet NaN. `out` is replaced.
void widenElements(const DType &narrow, const DType &wide, ByteView in,
                   std::vector<std::byte> &out);

/// Whether every element of `narrowData` is the element of `wideData` rounded to `narrow`, to
/// nearest, ties to even: the finding "B equals A rounded to bfloat16". NaN goes to any NaN. What
/// is too large becomes infinity, in formats without infinity NaN (as torch casts), in formats
/// with neither the largest number. False for types other than floats and for unequal counts.
bool roundsTo(const DType &wide, const DType &narrow, ByteView wideData, ByteView narrowData);

} // namespace forkpoint
