// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/diff_stats.h"

#include <bit>
#include <string>

namespace forkpoint::test {

/// Every bit of the statistics as text: equal texts are equal results.
inline std::string statsBits(const DiffStats &stats)
{
    std::string text;
    const auto put = [&](const char *name, auto... values) {
        text += name;
        ((text += " " + std::to_string(values)), ...);
        text += "\n";
    };
    put("elements", stats.elements);
    put("different", stats.differentElements, stats.firstIndex, stats.lastIndex,
        stats.valueDifferent, stats.beyondTolerance);
    put("finite", stats.finitePairs);
    put("maxAbs", std::bit_cast<std::uint64_t>(stats.maxAbs), stats.maxAbsInteger,
        stats.maxAbsIndex);
    put("maxUlp", stats.maxUlp, stats.maxUlpIndex);
    put("special", stats.nanA, stats.nanB, stats.infA, stats.infB, stats.nanPayloadOnly,
        stats.signedZeroOnly, stats.signFlips);
    const DiffSums sums = stats.sums.total();
    for (const ScaledSum &sum : {sums.absDifference, sums.squaredDifference, sums.productAB,
                                 sums.squaredA, sums.squaredB}) {
        put("sum", std::bit_cast<std::uint64_t>(sum.big), std::bit_cast<std::uint64_t>(sum.mid),
            std::bit_cast<std::uint64_t>(sum.small));
    }
    put("blocks", stats.sums.blockCount());
    for (const PowerHistogram *histogram :
         {&stats.absA, &stats.absB, &stats.absDifference, &stats.ulp}) {
        put("histogram", histogram->zeros());
        for (const auto &[power, count] : histogram->bins())
            put("bin", power, count);
    }
    put("joint", stats.joint.zeros());
    for (const JointHistogram::Cell &cell : stats.joint.cells())
        put("cell", cell.power, cell.ulpPower, cell.count);
    for (const LeafFacts &leaf : stats.leaves)
        put("leaf", leaf.different, leaf.largestPower);
    return text;
}

} // namespace forkpoint::test
