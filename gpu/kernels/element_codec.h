// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/hd.h"

namespace forkpoint::kernels {

/// Which codes are not finite numbers; the meaning is that of forkpoint::SpecialValues.
enum class Special : int { Ieee, FiniteNan, Fnuz, None, ScaleNan };

enum class NumberClass : int { Finite, Infinite, NotANumber };

/// A float format known when compiling: everything below folds to a few instructions.
template <int Exponent, int Mantissa, int Bias, Special Specials = Special::Ieee, bool Sign = true>
struct StaticFormat
{
    static constexpr int exponentBits = Exponent;
    static constexpr int mantissaBits = Mantissa;
    static constexpr int bias = Bias;
    static constexpr Special special = Specials;
    static constexpr bool hasSign = Sign;
};

/// A float format known when running: a row of the dtype table.
struct RuntimeFormat
{
    int exponentBits = 0;
    int mantissaBits = 0;
    int bias = 0;
    Special special = Special::Ieee;
    bool hasSign = true;
};

using Float64 = StaticFormat<11, 52, 1023>;
using Float32 = StaticFormat<8, 23, 127>;
using Float16 = StaticFormat<5, 10, 15>;
using BFloat16 = StaticFormat<8, 7, 127>;

/// The bits below the sign.
template <class Format>
FP_HD std::uint64_t magnitudeMask(const Format &format)
{
    return (std::uint64_t(1) << (format.exponentBits + format.mantissaBits)) - 1;
}

template <class Format>
FP_HD std::uint64_t signBit(const Format &format)
{
    return format.hasSign ? magnitudeMask(format) + 1 : 0;
}

/// Smallest power of two that divides every finite value: 2^lowestPower is the least subnormal.
template <class Format>
FP_HD int lowestPower(const Format &format)
{
    return format.special == Special::ScaleNan ? -format.bias
                                               : 1 - format.bias - format.mantissaBits;
}

/// No finite value, nor a difference of two, reaches 2^(powerLimit + 1).
template <class Format>
FP_HD int powerLimit(const Format &format)
{
    return (1 << format.exponentBits) - format.bias;
}

template <class Format>
FP_HD NumberClass classOf(const Format &format, std::uint64_t bits)
{
    const std::uint64_t mask = magnitudeMask(format);
    const std::uint64_t size = bits & mask;
    switch (format.special) {
    case Special::Ieee: {
        const std::uint64_t infinity = mask >> format.mantissaBits << format.mantissaBits;
        if (size < infinity)
            return NumberClass::Finite;
        return size == infinity ? NumberClass::Infinite : NumberClass::NotANumber;
    }
    case Special::FiniteNan:
    case Special::ScaleNan: return size == mask ? NumberClass::NotANumber : NumberClass::Finite;
    case Special::Fnuz: return bits == mask + 1 ? NumberClass::NotANumber : NumberClass::Finite;
    case Special::None: break;
    }
    return NumberClass::Finite;
}

/// The exact value of a finite code. Every format but float64 itself has values that are zero or
/// normal numbers of float64.
template <class Format>
FP_HD double valueOf(const Format &format, std::uint64_t bits)
{
    if (format.exponentBits == 11 && format.mantissaBits == 52)
        return doubleFromBits(bits);
    const std::uint64_t sign = std::uint64_t((bits & signBit(format)) != 0) << 63;
    const std::uint64_t size = bits & magnitudeMask(format);
    const std::uint64_t exponent = size >> format.mantissaBits;
    const std::uint64_t rebias = static_cast<std::uint64_t>(1023 - format.bias);
    if (exponent != 0 || format.special == Special::ScaleNan)
        return doubleFromBits(sign | ((size << (52 - format.mantissaBits)) + (rebias << 52)));
    // Subnormal: an integer times a power of two, exact.
    const double unit =
        doubleFromBits((rebias + 1 - static_cast<std::uint64_t>(format.mantissaBits)) << 52);
    const double value = multiply(static_cast<double>(static_cast<std::int64_t>(size)), unit);
    return doubleFromBits(sign | bitsFromDouble(value));
}

/// Position on the line of all codes, sign-magnitude to signed: -0 and +0 are both 0.
template <class Format>
FP_HD std::int64_t orderOf(const Format &format, std::uint64_t bits)
{
    const std::int64_t size = static_cast<std::int64_t>(bits & magnitudeMask(format));
    const std::int64_t flip = -static_cast<std::int64_t>((bits & signBit(format)) != 0);
    return (size ^ flip) - flip; // without a branch: signs are hard to predict
}

FP_HD std::uint64_t distance(std::int64_t a, std::int64_t b)
{
    const std::uint64_t difference = static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
    const std::uint64_t flip = std::uint64_t(0) - static_cast<std::uint64_t>(a < b);
    return (difference ^ flip) - flip;
}

template <class Format>
FP_HD std::uint64_t ulpDistance(const Format &format, std::uint64_t a, std::uint64_t b)
{
    return distance(orderOf(format, a), orderOf(format, b));
}

/// k with 2^k <= value < 2^(k+1), of a positive double; 1024 of infinity, -1074 of zero.
FP_HD int powerOf(double value)
{
    const std::uint64_t bits = bitsFromDouble(value);
    const int exponent = static_cast<int>(bits >> 52);
    return exponent != 0 ? exponent - 1023 : highestBit(bits | 1) - 1074;
}

/// Two's complement of `width` bits.
FP_HD std::int64_t signExtend(std::uint64_t bits, int width)
{
    const int unused = 64 - width;
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

// How parts lie in memory: a stream of fixed-width codes, packed from the least significant bit.

/// Parts of whole bytes.
template <class Raw>
struct PlainParts
{
    FP_HD std::uint64_t operator()(const std::uint8_t *data, std::size_t part) const
    {
        return loadAligned<Raw>(data + part * sizeof(Raw));
    }
};

/// Parts of 1 to 8 bits: part 0 is in the lowest bits of byte 0.
struct PackedParts
{
    int width = 4;

    FP_HD std::uint64_t operator()(const std::uint8_t *data, std::size_t part) const
    {
        const std::size_t firstBit = part * static_cast<std::size_t>(width);
        const unsigned shift = static_cast<unsigned>(firstBit % 8);
        unsigned bits = data[firstBit / 8];
        if (shift + static_cast<unsigned>(width) > 8)
            bits |= static_cast<unsigned>(data[firstBit / 8 + 1]) << 8;
        return (bits >> shift) & ((1U << width) - 1U);
    }
};

} // namespace forkpoint::kernels
