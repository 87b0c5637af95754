// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/ulp_quantile.h"

#include <algorithm>

namespace forkpoint {

std::optional<UlpRange> ulpPercentile(const DiffStats &stats, unsigned hundredths)
{
    const std::uint64_t total = stats.ulp.total();
    if (total == 0)
        return std::nullopt;
    // ceil(total * hundredths / 100) without leaving 64 bits
    const std::uint64_t rank = total / 100 * hundredths + (total % 100 * hundredths + 99) / 100;
    std::uint64_t below = stats.ulp.zeros();
    if (rank <= below)
        return UlpRange{0, 0};
    for (const auto &[power, count] : stats.ulp.bins()) {
        below += count;
        if (rank > below)
            continue;
        if (power < 0 || power > 63)
            return std::nullopt; // no distance: a report may say anything
        const std::uint64_t least = std::uint64_t(1) << power;
        return UlpRange{least, std::min(least + (least - 1), std::max(least, stats.maxUlp))};
    }
    return std::nullopt;
}

} // namespace forkpoint
