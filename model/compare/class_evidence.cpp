// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/class_evidence.h"

#include "model/compare/run_comparison.h"
#include "model/traces/trace_stage.h"

namespace forkpoint {

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
        if (!isNew)
            addLink(place->second, link);
    }
    return classes;
}

} // namespace forkpoint
