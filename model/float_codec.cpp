// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/float_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace forkpoint {

namespace {

std::uint64_t sizeMask(const FloatLayout &layout)
{
    return (std::uint64_t(1) << (layout.exponentBits + layout.mantissaBits)) - 1;
}

std::uint64_t signOf(const FloatLayout &layout)
{
    return layout.hasSign ? sizeMask(layout) + 1 : 0;
}

std::uint64_t fractionMask(const FloatLayout &layout)
{
    return (std::uint64_t(1) << layout.mantissaBits) - 1;
}

std::uint64_t infinityCode(const FloatLayout &layout)
{
    return sizeMask(layout) & ~fractionMask(layout);
}

/// The quiet NaN without a sign; the largest number of a format without NaN.
std::uint64_t quietNan(const FloatLayout &layout)
{
    switch (layout.special) {
    case SpecialValues::Ieee:
        return infinityCode(layout) | (std::uint64_t(1) << (layout.mantissaBits - 1));
    case SpecialValues::Fnuz: return sizeMask(layout) + 1;
    case SpecialValues::FiniteNan:
    case SpecialValues::ScaleNan:
    case SpecialValues::None: break;
    }
    return sizeMask(layout);
}

std::uint64_t largestSize(const FloatLayout &layout)
{
    switch (layout.special) {
    case SpecialValues::Ieee: return infinityCode(layout) - 1;
    case SpecialValues::FiniteNan:
    case SpecialValues::ScaleNan: return sizeMask(layout) - 1;
    case SpecialValues::Fnuz:
    case SpecialValues::None: break;
    }
    return sizeMask(layout);
}

std::uint64_t overflowCode(const FloatLayout &layout, std::uint64_t sign)
{
    if (layout.special == SpecialValues::Ieee)
        return sign | infinityCode(layout);
    if (layout.special == SpecialValues::Fnuz)
        return quietNan(layout);
    return sign | quietNan(layout);
}

/// The size code (exponent and fraction) nearest to a positive finite value; may be beyond the
/// largest. Exact scaling first, then one rounding to an integer, ties to even.
std::uint64_t nearestSize(const FloatLayout &layout, double value)
{
    const bool scaleOnly = layout.special == SpecialValues::ScaleNan;
    const int leastExponent = scaleOnly ? -layout.bias : 1 - layout.bias;
    const int exponent = std::max(std::ilogb(value), leastExponent);
    const double units = std::nearbyint(std::ldexp(value, layout.mantissaBits - exponent));
    const std::uint64_t significand = static_cast<std::uint64_t>(units);
    if (scaleOnly) {
        const std::uint64_t field = static_cast<std::uint64_t>(exponent + layout.bias);
        return significand == 0 ? 0 : field + significand - 1;
    }
    // The hidden bit adds one to the exponent field; a carry moves on to the next exponent.
    const std::uint64_t field = static_cast<std::uint64_t>(exponent - leastExponent);
    return (field << layout.mantissaBits) + significand;
}

} // namespace

bool isNanCode(const FloatLayout &layout, std::uint64_t bits)
{
    const std::uint64_t size = bits & sizeMask(layout);
    switch (layout.special) {
    case SpecialValues::Ieee: return size > infinityCode(layout);
    case SpecialValues::FiniteNan:
    case SpecialValues::ScaleNan: return size == sizeMask(layout);
    case SpecialValues::Fnuz: return bits == sizeMask(layout) + 1;
    case SpecialValues::None: break;
    }
    return false;
}

bool isInfinityCode(const FloatLayout &layout, std::uint64_t bits)
{
    return layout.special == SpecialValues::Ieee
        && (bits & sizeMask(layout)) == infinityCode(layout);
}

double decodeFloat(const FloatLayout &layout, std::uint64_t bits)
{
    const bool negative = (bits & signOf(layout)) != 0;
    if (isNanCode(layout, bits))
        return std::numeric_limits<double>::quiet_NaN();
    double size = std::numeric_limits<double>::infinity();
    if (!isInfinityCode(layout, bits)) {
        const std::uint64_t code = bits & sizeMask(layout);
        const int exponent = static_cast<int>(code >> layout.mantissaBits);
        const std::uint64_t fraction = code & fractionMask(layout);
        const bool hidden = exponent != 0 || layout.special == SpecialValues::ScaleNan;
        const std::uint64_t significand =
            fraction | (hidden ? std::uint64_t(1) << layout.mantissaBits : 0);
        const int power = (hidden ? exponent : 1) - layout.bias - layout.mantissaBits;
        size = std::ldexp(static_cast<double>(significand), power);
    }
    return negative ? -size : size;
}

std::uint64_t encodeFloat(const FloatLayout &layout, double value)
{
    const std::uint64_t sign = std::signbit(value) ? signOf(layout) : 0;
    if (std::isnan(value))
        return layout.special == SpecialValues::Fnuz ? quietNan(layout) : sign | quietNan(layout);
    if (std::isinf(value))
        return overflowCode(layout, sign);
    const double size = std::fabs(value);
    if (size == 0.0)
        return layout.special == SpecialValues::Fnuz ? 0 : sign;
    const std::uint64_t code = nearestSize(layout, size);
    if (code > largestSize(layout))
        return overflowCode(layout, sign);
    return code == 0 && layout.special == SpecialValues::Fnuz ? 0 : sign | code;
}

std::optional<std::uint64_t> ulpBetween(const FloatLayout &layout, std::uint64_t a, std::uint64_t b)
{
    for (const std::uint64_t bits : {a, b}) {
        if (isNanCode(layout, bits) || isInfinityCode(layout, bits))
            return std::nullopt;
    }
    const std::uint64_t sizeA = a & sizeMask(layout);
    const std::uint64_t sizeB = b & sizeMask(layout);
    if (((a ^ b) & signOf(layout)) != 0)
        return sizeA + sizeB;
    return sizeA > sizeB ? sizeA - sizeB : sizeB - sizeA;
}

std::uint64_t widenFloat(const FloatLayout &narrow, const FloatLayout &wide, std::uint64_t bits)
{
    if (!isNanCode(narrow, bits))
        return encodeFloat(wide, decodeFloat(narrow, bits));
    const bool negative = narrow.special != SpecialValues::Fnuz && (bits & signOf(narrow)) != 0;
    const std::uint64_t sign = negative && wide.special != SpecialValues::Fnuz ? signOf(wide) : 0;
    if (narrow.special != SpecialValues::Ieee || wide.special != SpecialValues::Ieee)
        return sign | quietNan(wide);
    const std::uint64_t payload = bits & fractionMask(narrow);
    return sign | infinityCode(wide) | payload << (wide.mantissaBits - narrow.mantissaBits);
}

std::uint64_t roundFloat(const FloatLayout &wide, const FloatLayout &narrow, std::uint64_t bits)
{
    return encodeFloat(narrow, decodeFloat(wide, bits));
}

} // namespace forkpoint
