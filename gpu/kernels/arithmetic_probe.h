// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/hd.h"

namespace forkpoint::kernels {

// Whether a processor or device computes as the statistics need it. Operands come from memory, so
// that no compiler can know the answers.

struct ProbeOperands
{
    double leastNormal = 0x1p-1022;
    double leastSubnormal = 0x1p-1074;
    double half = 0.5;
    double one = 1.0;
    double tiny = 0x1p-53;        ///< half of the distance from 1 to the next number
    double above = 1.0 + 0x1p-27; ///< its square needs one bit more than there are
};

enum ArithmeticFault : unsigned {
    FlushesResults = 1,  ///< a subnormal result becomes zero
    FlushesOperands = 2, ///< a subnormal operand counts as zero
    WrongRounding = 4,   ///< not to nearest, ties to even
    Fused = 8,           ///< a product is not rounded before it is added
};

/// 0, or the ArithmeticFaults that were found.
FP_HD unsigned probeArithmetic(const volatile ProbeOperands &given)
{
    unsigned faults = 0;
    if (bitsFromDouble(multiply(given.leastNormal, given.half)) != std::uint64_t(1) << 51)
        faults |= FlushesResults;
    if (bitsFromDouble(add(given.leastSubnormal, given.leastSubnormal)) != 2)
        faults |= FlushesOperands;
    const double tie = add(given.one, given.tiny);
    const double aboveTie =
        add(given.one, multiply(add(given.one, add(given.one, given.one)), given.tiny));
    const std::uint64_t one = std::uint64_t(1023) << 52;
    if (bitsFromDouble(tie) != one || bitsFromDouble(aboveTie) != one + 2)
        faults |= WrongRounding;
    const double square = multiply(given.above, given.above);
    if (bitsFromDouble(square) != one + (std::uint64_t(1) << 26)
        || bitsFromDouble(add(multiply(given.above, given.above), -square)) != 0)
        faults |= Fused;
    return faults;
}

} // namespace forkpoint::kernels
