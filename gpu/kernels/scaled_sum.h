// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/element_codec.h"
#include "gpu/kernels/geometry.h"

namespace forkpoint::kernels {

/// A block's sum in three ranges; the meaning is that of forkpoint::ScaledSum.
struct RangeSum
{
    double big = 0.0;
    double mid = 0.0;
    double small = 0.0;
};

constexpr int RangeShift = 1200; ///< big counts in 2^1200, small in 2^-1200
constexpr int RangeEdge = 900;   ///< products of 2^-900 to 2^900 are added as they are

/// 2^power of a normal number.
FP_HD double powerOfTwo(int power)
{
    return doubleFromBits(static_cast<std::uint64_t>(power + 1023) << 52);
}

/// value * 2^shift with the significand kept: `value` is finite and not zero, the result normal.
FP_HD double shifted(double value, int shift)
{
    const double normal = multiply(value, powerOfTwo(powerOf(magnitude(value)) < -1022 ? 100 : 0));
    const int rest = powerOf(magnitude(value)) < -1022 ? shift - 100 : shift;
    const std::uint64_t bits = bitsFromDouble(normal);
    return doubleFromBits(bits
                          + (static_cast<std::uint64_t>(static_cast<std::int64_t>(rest)) << 52));
}

/// Sums where no product leaves the range of float64: every type but float64.
template <class Team>
struct NarrowSum
{
    typename Team::Sum mid;

    FP_HD void addValue(int lane, double value) { mid[lane] = add(mid[lane], value); }
    FP_HD void addProduct(int lane, double a, double b) { addValue(lane, multiply(a, b)); }
    FP_HD RangeSum fold(Team &team) { return {0.0, team.fold(mid), 0.0}; }
};

/// Sums of float64, in three ranges. Which range a term goes to depends on the exponents of its
/// factors alone.
template <class Team>
struct WideSum
{
    typename Team::Sum big, mid, small;

    FP_HD void addValue(int lane, double value)
    {
        if (value == 0.0)
            return;
        const int power = powerOf(magnitude(value));
        if (power > RangeEdge)
            big[lane] = add(big[lane], shifted(value, -RangeShift));
        else if (power < -RangeEdge)
            small[lane] = add(small[lane], shifted(value, RangeShift));
        else
            mid[lane] = add(mid[lane], value);
    }

    FP_HD void addProduct(int lane, double a, double b)
    {
        if (a == 0.0 || b == 0.0)
            return;
        const int powerA = powerOf(magnitude(a));
        const int powerB = powerOf(magnitude(b));
        const int power = powerA + powerB;
        if (power >= -RangeEdge && power <= RangeEdge) {
            mid[lane] = add(mid[lane], multiply(a, b));
            return;
        }
        const double product = multiply(shifted(a, -powerA), shifted(b, -powerB));
        if (power > RangeEdge)
            big[lane] = add(big[lane], shifted(product, power - RangeShift));
        else
            small[lane] = add(small[lane], shifted(product, power + RangeShift));
    }

    FP_HD RangeSum fold(Team &team) { return {team.fold(big), team.fold(mid), team.fold(small)}; }
};

} // namespace forkpoint::kernels
