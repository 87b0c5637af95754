// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/lost_items.h"

namespace forkpoint {

/// Whether a row of a comparison is a difference that decides: not of the context, not within a
/// tolerance that was asked for, and not perhaps lost on the other side.
template <class Row>
bool decides(const Row &row)
{
    return !isContext(row.stateClass) && row.status != ItemStatus::Identical
        && row.status != ItemStatus::NotCompared && !row.withinTolerance && !mayBeLost(row);
}

} // namespace forkpoint
