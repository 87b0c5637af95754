// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/element.h"

#include "model/float_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace forkpoint {

namespace {

std::uint32_t partBitsOf(const DType &dtype)
{
    return dtype.kind == ElementKind::Complex ? dtype.bits / 2 : dtype.bits;
}

/// The part of `bits` bits (at most 64) that begins at `firstBit` of the stream; bits beyond the
/// end are zero.
std::uint64_t loadBits(ByteView stream, std::uint64_t firstBit, std::uint32_t bits)
{
    std::uint64_t value = 0;
    for (std::uint32_t done = 0; done < bits;) {
        const std::uint64_t at = firstBit + done;
        const std::uint32_t shift = static_cast<std::uint32_t>(at % 8);
        const std::uint32_t take = std::min(8 - shift, bits - done);
        const std::uint64_t byte =
            at / 8 < stream.size() ? std::to_integer<std::uint64_t>(stream[at / 8]) : 0;
        value |= ((byte >> shift) & ((1U << take) - 1)) << done;
        done += take;
    }
    return value;
}

void storeBits(std::vector<std::byte> &stream, std::uint64_t firstBit, std::uint32_t bits,
               std::uint64_t value)
{
    for (std::uint32_t done = 0; done < bits;) {
        const std::uint64_t at = firstBit + done;
        const std::uint32_t shift = static_cast<std::uint32_t>(at % 8);
        const std::uint32_t take = std::min(8 - shift, bits - done);
        const std::uint64_t piece = (value >> done) & ((1U << take) - 1);
        stream[at / 8] |= static_cast<std::byte>(piece << shift);
        done += take;
    }
}

std::int64_t toSigned(std::uint64_t bits, std::uint32_t width)
{
    const std::uint32_t unused = 64 - width;
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

Scalar decodePart(const DType &dtype, std::uint64_t bits)
{
    switch (dtype.kind) {
    case ElementKind::Bool: return bits != 0;
    case ElementKind::SignedInt: return toSigned(bits, partBitsOf(dtype));
    case ElementKind::UnsignedInt: return bits;
    case ElementKind::Float:
    case ElementKind::Complex: return decodeFloat(dtype.layout, bits);
    case ElementKind::Opaque: break;
    }
    return std::monostate();
}

/// b - a of integers, exact where it fits.
Scalar subtractWide(bool negative, std::uint64_t size)
{
    constexpr std::uint64_t MostNegative = std::uint64_t(1) << 63;
    if (!negative && size < MostNegative)
        return static_cast<std::int64_t>(size);
    if (!negative)
        return size;
    if (size <= MostNegative)
        return static_cast<std::int64_t>(std::uint64_t(0) - size);
    return -static_cast<double>(size);
}

Scalar difference(const Scalar &a, const Scalar &b)
{
    if (const auto *x = std::get_if<bool>(&a))
        return std::int64_t(std::get<bool>(b)) - std::int64_t(*x);
    if (const auto *x = std::get_if<std::int64_t>(&a)) {
        const std::int64_t y = std::get<std::int64_t>(b);
        const std::uint64_t size =
            y < *x ? std::uint64_t(*x) - std::uint64_t(y) : std::uint64_t(y) - std::uint64_t(*x);
        return subtractWide(y < *x, size);
    }
    if (const auto *x = std::get_if<std::uint64_t>(&a)) {
        const std::uint64_t y = std::get<std::uint64_t>(b);
        return subtractWide(y < *x, y < *x ? *x - y : y - *x);
    }
    if (const auto *x = std::get_if<double>(&a))
        return std::get<double>(b) - *x;
    return std::monostate();
}

std::optional<std::uint64_t> ulpOf(const DType &dtype, ByteView a, ByteView b)
{
    if (!dtype.isFloating())
        return std::nullopt;
    std::optional<std::uint64_t> largest;
    const std::uint32_t bits = partBitsOf(dtype);
    for (std::uint32_t first = 0; first < dtype.bits; first += bits) {
        const auto ulp =
            ulpBetween(dtype.layout, loadBits(a, first, bits), loadBits(b, first, bits));
        if (ulp)
            largest = std::max(largest.value_or(0), *ulp);
    }
    return largest;
}

ElementValue decodeBits(const DType &dtype, ByteView bits)
{
    if (dtype.kind == ElementKind::Opaque || partBitsOf(dtype) > 64 || partBitsOf(dtype) == 0)
        return {};
    const std::uint32_t width = partBitsOf(dtype);
    ElementValue value{decodePart(dtype, loadBits(bits, 0, width)), {}};
    if (dtype.kind == ElementKind::Complex)
        value.imaginary = decodePart(dtype, loadBits(bits, width, width));
    return value;
}

std::string partToHex(ByteView bytes)
{
    constexpr std::string_view Digits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        text += Digits[std::to_integer<std::size_t>(bytes[i]) >> 4];
        text += Digits[std::to_integer<std::size_t>(bytes[i]) & 15];
    }
    return text;
}

std::string partToBinary(const DType &dtype, ByteView bits, std::uint32_t first,
                         std::uint32_t width)
{
    std::string text;
    const std::uint32_t exponentEnd =
        dtype.isFloating() ? dtype.layout.mantissaBits : width; // lowest bit of the exponent
    const std::uint32_t signAt =
        dtype.isFloating() ? dtype.layout.mantissaBits + dtype.layout.exponentBits : width;
    for (std::uint32_t i = width; i-- > 0;) {
        text += loadBits(bits, first + i, 1) != 0 ? '1' : '0';
        if (i > 0 && (i == exponentEnd || i == signAt))
            text += ' ';
    }
    return text;
}

} // namespace

ElementValue decodeElement(const DType &dtype, ByteView stream, Index index)
{
    return decodeBits(dtype, elementBits(dtype, stream, index));
}

std::vector<std::byte> elementBits(const DType &dtype, ByteView stream, Index index)
{
    std::vector<std::byte> result((std::uint64_t(dtype.bits) + 7) / 8);
    const std::uint64_t firstBit = index * dtype.bits;
    if (dtype.bits % 8 != 0) {
        storeBits(result, 0, dtype.bits, loadBits(stream, firstBit, dtype.bits));
        return result;
    }
    const std::uint64_t first = firstBit / 8;
    for (std::size_t i = 0; i < result.size() && first + i < stream.size(); ++i)
        result[i] = stream[first + i];
    return result;
}

std::string bitsToHex(const DType &dtype, const std::vector<std::byte> &bits)
{
    const ByteView bytes = bits;
    if (dtype.kind == ElementKind::Complex && bytes.size() % 2 == 0) {
        const std::size_t half = bytes.size() / 2;
        return partToHex(bytes.first(half)) + "_" + partToHex(bytes.subspan(half));
    }
    const std::string text = partToHex(bytes);
    return dtype.bits <= 4 && text.size() == 2 ? text.substr(1) : text;
}

std::string bitsToBinary(const DType &dtype, const std::vector<std::byte> &bits)
{
    const std::uint32_t width = partBitsOf(dtype);
    std::string text = partToBinary(dtype, bits, 0, width);
    if (dtype.kind == ElementKind::Complex)
        text += "_" + partToBinary(dtype, bits, width, width);
    return text;
}

ElementRow makeElementRow(const DType &dtype, Index index, std::vector<std::byte> a,
                          std::vector<std::byte> b)
{
    ElementRow row;
    row.index = index;
    row.bitsA = std::move(a);
    row.bitsB = std::move(b);
    row.a = decodeBits(dtype, row.bitsA);
    row.b = decodeBits(dtype, row.bitsB);
    row.difference = {difference(row.a.real, row.b.real),
                      difference(row.a.imaginary, row.b.imaginary)};
    row.ulp = ulpOf(dtype, row.bitsA, row.bitsB);
    row.differs = row.bitsA != row.bitsB;
    return row;
}

namespace {

std::uint64_t widenPart(const DType &narrow, const DType &wide, std::uint64_t bits)
{
    if (narrow.isFloating())
        return widenFloat(narrow.layout, wide.layout, bits);
    if (narrow.kind == ElementKind::Bool)
        return bits != 0 ? 1 : 0;
    if (narrow.kind == ElementKind::SignedInt)
        return static_cast<std::uint64_t>(toSigned(bits, narrow.bits));
    return bits;
}

} // namespace

void widenElements(const DType &narrow, const DType &wide, ByteView in, std::vector<std::byte> &out)
{
    if (narrow.bits == wide.bits && narrow.kind == wide.kind && narrow.layout == wide.layout) {
        out.assign(in.begin(), in.end());
        return;
    }
    const std::uint32_t narrowBits = partBitsOf(narrow);
    const std::uint32_t wideBits = partBitsOf(wide);
    const std::uint64_t parts = narrowBits == 0 ? 0 : std::uint64_t(in.size()) * 8 / narrowBits;
    out.assign((parts * wideBits + 7) / 8, std::byte(0));
    const std::uint64_t mask =
        wideBits >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << wideBits) - 1;
    for (std::uint64_t i = 0; i < parts; ++i) {
        const std::uint64_t bits =
            widenPart(narrow, wide, loadBits(in, i * narrowBits, narrowBits));
        storeBits(out, i * wideBits, wideBits, bits & mask);
    }
}

bool roundsTo(const DType &wide, const DType &narrow, ByteView wideData, ByteView narrowData)
{
    const std::uint32_t wideBits = partBitsOf(wide);
    const std::uint32_t narrowBits = partBitsOf(narrow);
    if (!wide.isFloating() || wide.kind != narrow.kind || wideBits == 0 || narrowBits == 0)
        return false;
    const std::uint64_t parts = std::uint64_t(wideData.size()) * 8 / wideBits;
    if ((parts * narrowBits + 7) / 8 != narrowData.size())
        return false;
    for (std::uint64_t i = 0; i < parts; ++i) {
        const std::uint64_t expected =
            roundFloat(wide.layout, narrow.layout, loadBits(wideData, i * wideBits, wideBits));
        const std::uint64_t found = loadBits(narrowData, i * narrowBits, narrowBits);
        if (expected != found
            && !(isNanCode(narrow.layout, expected) && isNanCode(narrow.layout, found)))
            return false;
    }
    return true;
}

} // namespace forkpoint
