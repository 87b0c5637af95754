// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/byte_pairs.h"

namespace forkpoint {

// What the definition says of one pair of 8-bit codes, taken as often as the pair occurs.

/// Finite pairs of a float type of 8 bits: what diffFloats() counts beside sums and maxima.
template <class Policy>
void countPair(const Policy &policy, std::uint64_t a, std::uint64_t b, std::uint32_t times,
               const kernels::Histograms &bins, kernels::DiffRecord &found)
{
    const bool nanA = policy.isNan(a), nanB = policy.isNan(b);
    const bool finiteA = policy.isFinite(a), finiteB = policy.isFinite(b);
    if (!finiteA || !finiteB) {
        found.nanA += nanA ? times : 0;
        found.nanB += nanB ? times : 0;
        found.infA += !nanA && !finiteA ? times : 0;
        found.infB += !nanB && !finiteB ? times : 0;
        found.nanPayloadOnly += nanA && nanB && a != b ? times : 0;
        return;
    }
    const double x = policy.value(a), y = policy.value(b);
    const double difference = kernels::magnitude(kernels::add(x, -y));
    found.finitePairs += times;
    found.signedZeroOnly += a != b && x == 0.0 && y == 0.0 ? times : 0;
    found.signFlips += (x < 0.0 && y > 0.0) || (x > 0.0 && y < 0.0) ? times : 0;
    if (bins.absA != nullptr) {
        bins.absA[kernels::powerBin(bins.lowest, kernels::magnitude(x))] += times;
        bins.absB[kernels::powerBin(bins.lowest, kernels::magnitude(y))] += times;
    }
    if (difference == 0.0)
        return;
    const int row = kernels::powerBin(bins.lowest, difference);
    bins.rows[row] = 1;
    bins.joint[row * kernels::UlpColumns
               + kernels::integerBin(kernels::ulpDistance(policy.format, a, b))] += times;
}

template <class Parts>
void countPair(const kernels::IntegerPolicy<Parts> &policy, std::uint64_t a, std::uint64_t b,
               std::uint32_t times, const kernels::Histograms &bins, kernels::DiffRecord &found)
{
    const std::uint64_t x = policy.bitsToValue(a), y = policy.bitsToValue(b);
    found.finitePairs += times;
    found.signFlips += policy.isSigned && x != 0 && y != 0 && ((x ^ y) >> 63) != 0 ? times : 0;
    bins.absDifference[kernels::integerBin(policy.difference(x, y))] += times;
    if (bins.absA != nullptr) {
        bins.absA[kernels::integerBin(policy.size(x))] += times;
        bins.absB[kernels::integerBin(policy.size(y))] += times;
    }
}

template <class Policy>
ByteMeaning byteMeaning(const Policy &policy)
{
    ByteMeaning meaning;
    meaning.lowest = kernels::lowestPower(policy.format);
    for (std::uint64_t code = 0; code < 256; ++code) {
        meaning.finite[code] = policy.isFinite(code);
        meaning.orders[code] = kernels::orderOf(policy.format, code);
        if (meaning.finite[code])
            meaning.units[code] = static_cast<std::int64_t>(policy.value(code)
                                                            * kernels::powerOfTwo(-meaning.lowest));
    }
    return meaning;
}

template <class Parts>
ByteMeaning byteMeaning(const kernels::IntegerPolicy<Parts> &policy)
{
    ByteMeaning meaning;
    for (std::uint64_t code = 0; code < 256; ++code) {
        meaning.finite[code] = true;
        meaning.units[code] = static_cast<std::int64_t>(policy.bitsToValue(code));
    }
    return meaning;
}

/// Whether all values are few multiples of the least one: not so of float8_e8m0fnu.
template <class Policy>
bool hasByteUnits(const Policy &policy)
{
    return kernels::powerLimit(policy.format) - kernels::lowestPower(policy.format) < 48;
}

template <class Parts>
bool hasByteUnits(const kernels::IntegerPolicy<Parts> &)
{
    return true;
}

/// Whole blocks of a type of 8 bits. False, and nothing done, if the order of the sums counts.
template <class Policy>
bool addBytePairs(CountPairsKernel kernel, const Policy &policy, const ByteMeaning &meaning,
                  const DiffPiece &piece, Index first, Index parts, DiffUnit &unit, bool isFloat)
{
    const kernels::BlockView start = piece.block(first);
    BytePairDiff pairs(meaning, kernel, start.a, start.b, static_cast<std::size_t>(parts));
    if (!pairs.exact())
        return false;
    kernels::DiffRecord found;
    pairs.locateDifferences(start.firstElement, found);
    pairs.locateMaxima(start.firstElement, isFloat, unit.record(), found);
    pairs.counts().take([&](std::size_t pair, std::uint32_t times) {
        const std::uint64_t a = pair % 256, b = pair / 256;
        if (a != b) {
            found.different += times;
            found.valueDifferent += policy.equalValues(a, b) ? 0 : times;
            found.beyondTolerance +=
                piece.rule.asked && !policy.within(a, b, piece.rule) ? times : 0;
        }
        countPair(policy, a, b, times, unit.bins(), found);
    });
    unit.addExact(parts / BlockParts, found, pairs.sums().toBlockSums(meaning.lowest),
                  pairs.leaves());
    return true;
}

} // namespace forkpoint
