// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/class_evidence.h"

#include "model/run_comparison.h"
#include "model/trace_stage.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// A difference outweighs what is open, and that what is equal.
LinkStatus worse(LinkStatus one, LinkStatus other)
{
    for (const LinkStatus status : {LinkStatus::Different, LinkStatus::Undecided}) {
        if (one == status || other == status)
            return status;
    }
    return LinkStatus::Equal;
}

/// Of equality the weakest, of a difference the strongest: each says what the sum may claim.
Strength strengthOf(const ChainLink &sum, const ChainLink &link)
{
    if (sum.status != link.status)
        return sum.status == worse(sum.status, link.status) ? sum.strength : link.strength;
    return sum.status == LinkStatus::Different ? std::max(sum.strength, link.strength)
                                               : std::min(sum.strength, link.strength);
}

} // namespace

std::map<StateClass, ChainLink> classEvidence(const RunComparison &comparison)
{
    const auto &first = comparison.firstDivergence;
    const auto isAsked = [&](const ChainLink &link) {
        return !first || !first->step || (link.step && *link.step == *first->step);
    };
    std::map<StateClass, ChainLink> classes;
    for (const ChainLink &link : comparison.chain) {
        const StateClass stateClass = stateClassOfStage(link.stage);
        if (link.status == LinkStatus::NotRecorded || stateClass == StateClass::Unknown
            || !isAsked(link))
            continue;
        const auto [place, isNew] = classes.try_emplace(stateClass, link);
        if (isNew)
            continue;
        ChainLink &sum = place->second;
        sum.strength = strengthOf(sum, link);
        sum.status = worse(sum.status, link.status);
        sum.compared += link.compared;
        sum.different += link.different;
    }
    return classes;
}

} // namespace forkpoint
