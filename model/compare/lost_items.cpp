// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/lost_items.h"

#include "model/compare/rank_copies.h"

namespace forkpoint {

void tellMayBeLost(CheckpointComparison &comparison, const Catalog &a, const Catalog &b)
{
    if (a.complete && b.complete)
        return;
    // Of these the other side has enough to say that it differs.
    const std::set<std::string> differ = provenUnlikeRanks(rankCopyFindings(comparison, a, b));
    const auto tell = [&](auto &row) {
        if (differ.contains(row.name))
            return;
        if (row.status == ItemStatus::OnlyInA && !b.complete)
            row.reason = "B is incomplete and may have lost it";
        else if (row.status == ItemStatus::OnlyInB && !a.complete)
            row.reason = "A is incomplete and may have lost it";
    };
    for (TensorRow &row : comparison.tensors)
        tell(row);
    for (ValueRow &row : comparison.values)
        tell(row);
}

} // namespace forkpoint
