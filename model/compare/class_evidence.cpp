// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/class_evidence.h"

#include "model/compare/run_comparison.h"
#include "model/traces/ruled_out.h"
#include "model/traces/trace_stage.h"

namespace forkpoint {

namespace {

/// Checkpoints beside the traces may show what the records of the step where the runs part do not.
bool saysMore(const ClassSummary &summary, const ChainLink &link)
{
    if (summary.outcome == Outcome::Different)
        return link.status != LinkStatus::Different;
    return summary.outcome == Outcome::Undecided && link.status == LinkStatus::Equal;
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
        // An equal learning rate that was logged proves nothing of the scheduler's state.
        if (link.status == LinkStatus::Equal && !loggedAlone(link, comparison.metrics).empty())
            continue;
        const auto [place, isNew] = classes.try_emplace(stateClass, link);
        if (!isNew)
            addLink(place->second, link);
    }
    return classes;
}

std::vector<ClassLine> classLines(const RunComparison &comparison,
                                  const CheckpointComparison &shown)
{
    std::map<StateClass, ChainLink> evidence;
    if (comparison.verdict.coverage.recordsTotal > 0)
        evidence = classEvidence(comparison);
    std::vector<ClassLine> lines;
    for (const StateClass stateClass : allStateClasses()) {
        ClassLine line;
        line.stateClass = stateClass;
        if (const auto found = evidence.find(stateClass); found != evidence.end())
            line.recorded = found->second;
        if (const auto found = shown.byClass.find(stateClass); found != shown.byClass.end())
            line.items = found->second;
        if (!line.recorded && !line.items)
            continue;
        line.isByItems = line.items && (!line.recorded || saysMore(*line.items, *line.recorded));
        lines.push_back(std::move(line));
    }
    return lines;
}

} // namespace forkpoint
