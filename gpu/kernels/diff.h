// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/element_codec.h"
#include "gpu/kernels/scaled_sum.h"
#include "gpu/kernels/team.h"

namespace forkpoint::kernels {

// The statistics of one block of 2048 parts, defined once. The meaning of every figure is in
// resources/docs/statistics.md, the rules that make it reproducible in determinism.md.

constexpr std::uint64_t NoPosition = ~std::uint64_t(0);

/// What a user allows, see forkpoint::Tolerance. Not asked for: nothing is evaluated.
struct ToleranceRule
{
    bool asked = false;
    bool byValue = false;
    double relative = 0.0;
    double absolute = 0.0;
    bool byUlp = false;
    std::uint64_t maxUlp = 0;
};

/// The figures of a whole unit; blocks add to them.
struct DiffRecord
{
    std::uint64_t different = 0, first = NoPosition, last = NoPosition;
    std::uint64_t valueDifferent = 0, beyondTolerance = 0;
    std::uint64_t finitePairs = 0;
    std::uint64_t nanA = 0, nanB = 0, infA = 0, infB = 0;
    std::uint64_t nanPayloadOnly = 0, signedZeroOnly = 0, signFlips = 0;
    /// Bits of the double |a - b| of floats, |a - b| itself of integers.
    std::uint64_t maxAbsKey = 0, maxAbsIndex = NoPosition;
    std::uint64_t maxUlp = 0, maxUlpIndex = NoPosition;
};

/// Columns of the joint histogram: ULP distance 0, and powers 0 to 63.
constexpr int UlpColumns = 65;

/// Counters by power of two: bins[0] counts zeros, bins[1 + k - lowest] powers k.
struct Histograms
{
    std::uint64_t *absA = nullptr, *absB = nullptr; ///< null: not asked for
    std::uint64_t *absDifference = nullptr;         ///< integers only
    /// Floats only: rows as those of absDifference, `columns` columns; pairs with |a - b| = 0 are
    /// left out of row 0, because they are what is missing of the finite pairs.
    std::uint64_t *joint = nullptr;
    std::uint8_t *rows = nullptr; ///< not 0 for every row of `joint` that counts something; or null
    int lowest = 0;
    int columns = UlpColumns; ///< of a row of `joint`: fewer where the type is narrow
};

/// The five sums of a block.
struct BlockSums
{
    RangeSum absDifference, squaredDifference, productAB, squaredA, squaredB;
};

/// One block: where its parts are and which elements of the tensor they belong to.
struct BlockView
{
    const std::uint8_t *a = nullptr;
    const std::uint8_t *b = nullptr;
    int parts = 0;                  ///< at most BlockParts
    std::uint64_t firstElement = 0; ///< index in the tensor
    int partsPerElement = 1;        ///< 2 of a complex type
};

template <class Format>
FP_HD bool hasZero(const Format &format)
{
    return format.special != Special::ScaleNan;
}

/// Whether two codes of a float type are one value: equal bits, +0 and -0, two NaN.
template <class Format>
FP_HD bool sameValue(const Format &format, std::uint64_t a, std::uint64_t b)
{
    if (a == b)
        return true;
    const NumberClass classA = classOf(format, a);
    const NumberClass classB = classOf(format, b);
    if (classA != classB || classA == NumberClass::Infinite)
        return false;
    return classA == NumberClass::NotANumber
        || (orderOf(format, a) == 0 && orderOf(format, b) == 0 && hasZero(format));
}

FP_HD bool withinValue(double a, double b, double difference, const ToleranceRule &rule)
{
    const double sizeA = magnitude(a);
    const double sizeB = magnitude(b);
    const double larger = sizeA > sizeB ? sizeA : sizeB;
    return difference <= add(rule.absolute, multiply(rule.relative, larger));
}

/// How floats are read: one policy of the block below.
template <class FormatType, class PartsType>
struct FloatPolicy
{
    FormatType format;
    PartsType load;

    template <class Team>
    using Sums = NarrowSum<Team>;
    static constexpr bool isFloat = true;
    static constexpr bool differenceMayOverflow = false;

    FP_HD bool isFinite(std::uint64_t bits) const
    {
        return classOf(format, bits) == NumberClass::Finite;
    }
    FP_HD bool isNan(std::uint64_t bits) const
    {
        return classOf(format, bits) == NumberClass::NotANumber;
    }
    FP_HD double value(std::uint64_t bits) const { return valueOf(format, bits); }
    FP_HD bool equalValues(std::uint64_t a, std::uint64_t b) const
    {
        return sameValue(format, a, b);
    }
    FP_HD bool within(std::uint64_t a, std::uint64_t b, const ToleranceRule &rule) const
    {
        if (isNan(a) || isNan(b))
            return isNan(a) && isNan(b);
        if (!isFinite(a) || !isFinite(b))
            return a == b;
        if (rule.byUlp && ulpDistance(format, a, b) <= rule.maxUlp)
            return true;
        const double x = value(a);
        const double y = value(b);
        return rule.byValue && withinValue(x, y, magnitude(add(x, -y)), rule);
    }
};

/// float64: the same with sums that neither over- nor underflow.
template <class PartsType>
struct Float64Policy : FloatPolicy<Float64, PartsType>
{
    template <class Team>
    using Sums = WideSum<Team>;
    static constexpr bool differenceMayOverflow = true;
};

/// Integers of up to 64 bits. A bool is 0 or 1, whatever its byte.
template <class PartsType>
struct IntegerPolicy
{
    static constexpr bool isFloat = false;
    PartsType load;
    int width = 64;
    bool isSigned = false;
    bool isBool = false;

    FP_HD std::uint64_t bitsToValue(std::uint64_t bits) const
    {
        if (isBool)
            return bits != 0 ? 1 : 0;
        return isSigned ? static_cast<std::uint64_t>(signExtend(bits, width)) : bits;
    }
    FP_HD double toDouble(std::uint64_t value) const
    {
        return isSigned ? static_cast<double>(static_cast<std::int64_t>(value))
                        : static_cast<double>(value);
    }
    FP_HD std::uint64_t difference(std::uint64_t a, std::uint64_t b) const
    {
        if (isSigned)
            return distance(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
        return a > b ? a - b : b - a;
    }
    FP_HD std::uint64_t size(std::uint64_t value) const
    {
        return isSigned && static_cast<std::int64_t>(value) < 0 ? std::uint64_t(0) - value : value;
    }
    FP_HD bool equalValues(std::uint64_t a, std::uint64_t b) const
    {
        return bitsToValue(a) == bitsToValue(b);
    }
    FP_HD bool within(std::uint64_t a, std::uint64_t b, const ToleranceRule &rule) const
    {
        const std::uint64_t x = bitsToValue(a);
        const std::uint64_t y = bitsToValue(b);
        return rule.byValue
            && withinValue(toDouble(x), toDouble(y), static_cast<double>(difference(x, y)), rule);
    }
};

FP_HD int powerBin(int lowest, double size)
{
    return size == 0.0 ? 0 : 1 + powerOf(size) - lowest;
}

FP_HD int integerBin(std::uint64_t size)
{
    return size == 0 ? 0 : 1 + highestBit(size);
}

/// |a| and |b| of a finite pair of floats.
template <class Team>
FP_HD void countMagnitudes(Team &team, const Histograms &bins, double a, double b)
{
    if (bins.absA == nullptr)
        return;
    team.count(bins.absA[powerBin(bins.lowest, magnitude(a))]);
    team.count(bins.absB[powerBin(bins.lowest, magnitude(b))]);
}

/// A finite pair of floats that is not equal as numbers.
template <class Team>
FP_HD void countJoint(Team &team, const Histograms &bins, double difference, std::uint64_t ulp)
{
    const int row = powerBin(bins.lowest, difference);
    if (bins.rows != nullptr)
        bins.rows[row] = 1;
    team.count(bins.joint[row * bins.columns + integerBin(ulp)]);
}

/// Which elements differ, in bits, as values, beyond the tolerance, and where the first and last.
template <class Team, class Policy>
FP_HD void locateDifferences(Team &team, const Policy &policy, const BlockView &block,
                             const ToleranceRule &rule, DiffRecord &record)
{
    typename Team::Tally different, valueDifferent, beyond;
    typename Team::Peak first, last; // the first one by its distance from the end
    const int parts = block.partsPerElement;
    team.sweep(block.parts / parts, [&](int element, int lane) {
        bool differs = false, unequal = false, outside = false;
        for (int part = 0; part < parts; ++part) {
            const std::size_t at = static_cast<std::size_t>(element * parts + part);
            const std::uint64_t a = policy.load(block.a, at);
            const std::uint64_t b = policy.load(block.b, at);
            if (a == b)
                continue;
            differs = true;
            unequal = unequal || !policy.equalValues(a, b);
            outside = outside || (rule.asked && !policy.within(a, b, rule));
        }
        if (!differs)
            return;
        const std::uint64_t index = block.firstElement + static_cast<std::uint64_t>(element);
        ++different[lane];
        valueDifferent[lane] += unequal;
        beyond[lane] += outside;
        offer(first[lane], NoPosition - index, index);
        offer(last[lane], index, index);
    });
    const std::uint64_t count = team.total(different);
    const std::uint64_t values = team.total(valueDifferent);
    const std::uint64_t outside = team.total(beyond);
    const auto firstBest = team.best(first);
    const auto lastBest = team.best(last);
    team.once([&] {
        record.different += count;
        record.valueDifferent += values;
        record.beyondTolerance += outside;
        if (count == 0)
            return;
        if (record.first == NoPosition)
            record.first = firstBest.index;
        record.last = lastBest.index;
    });
}

/// The index of an element in the peaks of a record whose earlier blocks came first.
FP_HD void keepPeak(std::uint64_t &key, std::uint64_t &index, std::uint64_t newKey,
                    std::uint64_t newIndex)
{
    if (newIndex == NoPosition)
        return;
    if (index == NoPosition || newKey > key) {
        key = newKey;
        index = newIndex;
    }
}

/// Counters of what is not finite, and of zeros and signs.
template <class Team>
struct ClassTallies
{
    typename Team::Tally finitePairs, nanA, nanB, infA, infB, payload, signedZero, flips;

    FP_HD void addTo(Team &team, DiffRecord &record)
    {
        const std::uint64_t sums[8] = {team.total(finitePairs), team.total(nanA),
                                       team.total(nanB),        team.total(infA),
                                       team.total(infB),        team.total(payload),
                                       team.total(signedZero),  team.total(flips)};
        team.once([&] {
            record.finitePairs += sums[0];
            record.nanA += sums[1];
            record.nanB += sums[2];
            record.infA += sums[3];
            record.infB += sums[4];
            record.nanPayloadOnly += sums[5];
            record.signedZeroOnly += sums[6];
            record.signFlips += sums[7];
        });
    }
};

template <class Team, class Policy>
FP_HD void countNotFinite(ClassTallies<Team> &tallies, const Policy &policy, std::uint64_t a,
                          std::uint64_t b, int lane)
{
    const bool nanA = policy.isNan(a);
    const bool nanB = policy.isNan(b);
    tallies.nanA[lane] += nanA;
    tallies.nanB[lane] += nanB;
    tallies.infA[lane] += !nanA && !policy.isFinite(a);
    tallies.infB[lane] += !nanB && !policy.isFinite(b);
    tallies.payload[lane] += nanA && nanB && a != b;
}

/// Adds a pair of finite values to the five sums.
template <class Sum>
struct PairSums
{
    Sum absDifference, squaredDifference, productAB, squaredA, squaredB;

    FP_HD void addPair(int lane, double a, double b, double difference)
    {
        absDifference.addValue(lane, difference);
        squaredDifference.addProduct(lane, difference, difference);
        productAB.addProduct(lane, a, b);
        squaredA.addProduct(lane, a, a);
        squaredB.addProduct(lane, b, b);
    }

    FP_HD void addEqual(int lane, double value)
    {
        productAB.addProduct(lane, value, value);
        squaredA.addProduct(lane, value, value);
        squaredB.addProduct(lane, value, value);
    }

    template <class Team>
    FP_HD BlockSums fold(Team &team)
    {
        return {absDifference.fold(team), squaredDifference.fold(team), productAB.fold(team),
                squaredA.fold(team), squaredB.fold(team)};
    }
};

/// |a - b| of two float64 that are further apart than the largest float64, halved.
template <class Sum>
FP_HD void addHugePair(PairSums<Sum> &sums, int lane, double a, double b)
{
    const double half = magnitude(add(multiply(a, 0.5), -multiply(b, 0.5)));
    // Twice: two equal halves of the sum of |a - b|, four equal quarters of that of the squares.
    for (int i = 0; i < 2; ++i)
        sums.absDifference.addValue(lane, half);
    for (int i = 0; i < 4; ++i)
        sums.squaredDifference.addProduct(lane, half, half);
    sums.productAB.addProduct(lane, a, b);
    sums.squaredA.addProduct(lane, a, a);
    sums.squaredB.addProduct(lane, b, b);
}

/// One block of floats.
template <class Team, class Policy>
FP_HD BlockSums diffFloats(Team &team, const Policy &policy, const BlockView &block,
                           const Histograms &bins, DiffRecord &record)
{
    PairSums<typename Policy::template Sums<Team>> sums;
    ClassTallies<Team> tallies;
    typename Team::Peak maxAbs, maxUlp;
    team.sweep(block.parts, [&](int part, int lane) {
        const std::uint64_t a = policy.load(block.a, static_cast<std::size_t>(part));
        const std::uint64_t b = policy.load(block.b, static_cast<std::size_t>(part));
        if (!policy.isFinite(a) || !policy.isFinite(b)) {
            countNotFinite(tallies, policy, a, b, lane);
            return;
        }
        ++tallies.finitePairs[lane];
        const double x = policy.value(a);
        const std::uint64_t index =
            block.firstElement + static_cast<std::uint64_t>(part >> (block.partsPerElement - 1));
        if (a == b) { // what follows in short: only zeros are added
            sums.addEqual(lane, x);
            offer(maxAbs[lane], 0, index);
            offer(maxUlp[lane], 0, index);
            countMagnitudes(team, bins, x, x);
            return;
        }
        const double y = policy.value(b);
        const double difference = magnitude(add(x, -y));
        if (Policy::differenceMayOverflow && powerOf(difference) > 1023)
            addHugePair(sums, lane, x, y);
        else
            sums.addPair(lane, x, y, difference);
        const std::uint64_t ulp = ulpDistance(policy.format, a, b);
        // Bitwise: signs are hard to predict.
        tallies.signedZero[lane] += int(x == 0.0) & int(y == 0.0);
        tallies.flips[lane] += (int(x < 0.0) & int(y > 0.0)) | (int(x > 0.0) & int(y < 0.0));
        offer(maxAbs[lane], bitsFromDouble(difference), index);
        offer(maxUlp[lane], ulp, index);
        countMagnitudes(team, bins, x, y);
        if (difference != 0.0)
            countJoint(team, bins, difference, ulp);
    });
    tallies.addTo(team, record);
    const auto abs = team.best(maxAbs);
    const auto ulp = team.best(maxUlp);
    team.once([&] {
        keepPeak(record.maxAbsKey, record.maxAbsIndex, abs.key, abs.index);
        keepPeak(record.maxUlp, record.maxUlpIndex, ulp.key, ulp.index);
    });
    return sums.fold(team);
}

/// One block of integers: every pair is finite, |a - b| is exact and rounded once for the sums.
template <class Team, class Policy>
FP_HD BlockSums diffIntegers(Team &team, const Policy &policy, const BlockView &block,
                             const Histograms &bins, DiffRecord &record)
{
    PairSums<NarrowSum<Team>> sums;
    typename Team::Tally flips;
    typename Team::Peak maxAbs;
    team.sweep(block.parts, [&](int part, int lane) {
        const std::uint64_t a =
            policy.bitsToValue(policy.load(block.a, static_cast<std::size_t>(part)));
        const std::uint64_t b =
            policy.bitsToValue(policy.load(block.b, static_cast<std::size_t>(part)));
        const std::uint64_t difference = policy.difference(a, b);
        sums.addPair(lane, policy.toDouble(a), policy.toDouble(b), static_cast<double>(difference));
        flips[lane] += policy.isSigned && a != 0 && b != 0 && ((a ^ b) >> 63) != 0;
        offer(maxAbs[lane], difference, block.firstElement + static_cast<std::uint64_t>(part));
        team.count(bins.absDifference[integerBin(difference)]);
        if (bins.absA == nullptr)
            return;
        team.count(bins.absA[integerBin(policy.size(a))]);
        team.count(bins.absB[integerBin(policy.size(b))]);
    });
    const std::uint64_t flipped = team.total(flips);
    const auto abs = team.best(maxAbs);
    team.once([&] {
        record.finitePairs += static_cast<std::uint64_t>(block.parts);
        record.signFlips += flipped;
        keepPeak(record.maxAbsKey, record.maxAbsIndex, abs.key, abs.index);
    });
    return sums.fold(team);
}

} // namespace forkpoint::kernels
