// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/compare/comparison.h"

namespace forkpoint {

/// Of rows that one side alone has: the other side is incomplete and may have lost them with a file.
/// They get that as their reason; they stay what they are, and decide nothing. Not those of which the
/// other side has ranks that hold something else (rank_copies.h).
void tellMayBeLost(CheckpointComparison &comparison, const Catalog &a, const Catalog &b);

/// Whether that is so of a row.
template <class Row>
bool mayBeLost(const Row &row)
{
    return (row.status == ItemStatus::OnlyInA || row.status == ItemStatus::OnlyInB)
        && !row.reason.empty();
}

} // namespace forkpoint
