// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/diff_stats.h"

#include <optional>

namespace forkpoint {

/// ULP distances are counted by power of two, so a quantile is known to lie between two numbers.
struct UlpRange
{
    std::uint64_t least = 0, most = 0;

    bool operator==(const UlpRange &) const = default;
};

/// Where the smallest distance lies that at least `hundredths` of a hundred of the finite pairs do
/// not exceed (nearest rank: 50 is the median). Equal pairs count, with 0. Exact for 0 and 1, and
/// never beyond `maxUlp`. Nothing where no distances were counted.
std::optional<UlpRange> ulpPercentile(const DiffStats &stats, unsigned hundredths);

} // namespace forkpoint
