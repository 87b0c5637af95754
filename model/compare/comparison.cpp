// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/comparison.h"

namespace forkpoint {

std::string_view toString(ItemStatus status)
{
    switch (status) {
    case ItemStatus::Identical: return "identical";
    case ItemStatus::Different: return "different";
    case ItemStatus::OnlyInA: return "only-in-a";
    case ItemStatus::OnlyInB: return "only-in-b";
    case ItemStatus::NotCompared: return "not-compared";
    }
    return "not-compared";
}

void StatusCounts::count(ItemStatus status)
{
    switch (status) {
    case ItemStatus::Identical: ++identical; break;
    case ItemStatus::Different: ++different; break;
    case ItemStatus::OnlyInA: ++onlyInA; break;
    case ItemStatus::OnlyInB: ++onlyInB; break;
    case ItemStatus::NotCompared: ++notCompared; break;
    }
}

} // namespace forkpoint
