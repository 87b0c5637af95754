// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/causal_chain.h"

#include "model/comparison.h"
#include "model/run_comparison.h"
#include "model/trace_stage.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace forkpoint {

namespace {

/// What every training step has, whether it was recorded or not.
constexpr std::array<std::string_view, 7> Expected = {"batch", "forward",   "loss",  "backward",
                                                      "grad",  "grad_norm", "weight"};

LinkStatus statusOf(std::uint64_t different, std::uint64_t compared, std::uint64_t unknown,
                    Strength weakest)
{
    if (different > 0)
        return LinkStatus::Different;
    if (compared == 0)
        return unknown > 0 ? LinkStatus::Undecided : LinkStatus::NotRecorded;
    return unknown == 0 && provesEquality(weakest) ? LinkStatus::Equal : LinkStatus::Undecided;
}

} // namespace

std::string_view toString(LinkStatus status)
{
    switch (status) {
    case LinkStatus::Equal: return "equal";
    case LinkStatus::Different: return "different";
    case LinkStatus::NotRecorded: return "not-recorded";
    case LinkStatus::Undecided: return "undecided";
    }
    return "undecided";
}

CausalChain::Sum &CausalChain::sumOf(std::optional<std::int64_t> step, const std::string &stage)
{
    const auto [place, isNew] = m_steps[step].try_emplace(stage);
    if (isNew)
        place->second.order = ++m_order;
    return place->second;
}

void CausalChain::add(const TraceComparison &trace)
{
    for (const StageSummary &stage : trace.stages) {
        Sum &sum = sumOf(stage.iteration, stage.stage);
        sum.compared += stage.evidence.compared;
        sum.different += stage.evidence.different + stage.oneSided;
        sum.unknown += stage.evidence.nothing + stage.evidence.notComparable;
        if (stage.evidence.compared > stage.evidence.different)
            sum.weakestEqual = std::min(sum.weakestEqual, stage.evidence.weakestEqual);
        sum.strongestDifferent =
            std::max(sum.strongestDifferent, stage.evidence.strongestDifferent);
    }
}

void CausalChain::add(std::optional<std::int64_t> step, const CheckpointComparison &checkpoint)
{
    const auto take = [&](const auto &row, const std::string &stage) {
        if (isContext(row.stateClass))
            return;
        Sum &sum = sumOf(step, stage);
        if (row.status == ItemStatus::NotCompared) {
            ++sum.unknown;
            return;
        }
        ++sum.compared;
        if (row.status == ItemStatus::Identical || row.withinTolerance) {
            sum.weakestEqual = std::min(sum.weakestEqual, checkpoint.facts.strength);
            return;
        }
        ++sum.different;
        sum.strongestDifferent =
            std::max(sum.strongestDifferent, checkpoint.facts.differenceStrength);
    };
    for (const TensorRow &row : checkpoint.tensors)
        take(row, stageOf(row));
    for (const ValueRow &row : checkpoint.values)
        take(row, stageOf(row));
}

void CausalChain::add(std::optional<std::int64_t> step, const std::string &stage, bool equal,
                      Strength strength)
{
    Sum &sum = sumOf(step, stage);
    ++sum.compared;
    if (equal) {
        sum.weakestEqual = std::min(sum.weakestEqual, strength);
        return;
    }
    ++sum.different;
    sum.strongestDifferent = std::max(sum.strongestDifferent, strength);
}

std::vector<ChainLink> CausalChain::links() const
{
    std::vector<ChainLink> links;
    for (const auto &[step, stages] : m_steps) {
        std::vector<std::pair<std::tuple<std::size_t, std::size_t>, ChainLink>> ordered;
        for (const auto &[stage, sum] : stages) {
            ChainLink link{step,
                           stage,
                           statusOf(sum.different, sum.compared, sum.unknown, sum.weakestEqual),
                           sum.compared,
                           sum.different,
                           Strength::None};
            if (link.status == LinkStatus::Different)
                link.strength = sum.strongestDifferent;
            else if (sum.compared > 0)
                link.strength = sum.weakestEqual;
            ordered.emplace_back(std::tuple(causalPlace(stage), sum.order), std::move(link));
        }
        const bool hasPass = stages.count("forward") + stages.count("backward")
                + stages.count("grad") + stages.count("batch")
            > 0;
        for (const std::string_view stage : Expected) {
            if (hasPass && stages.count(std::string(stage)) == 0)
                ordered.emplace_back(std::tuple(causalPlace(stage), std::size_t(0)),
                                     ChainLink{step, std::string(stage), LinkStatus::NotRecorded, 0,
                                               0, Strength::None});
        }
        std::sort(ordered.begin(), ordered.end(),
                  [](const auto &x, const auto &y) { return x.first < y.first; });
        for (auto &[order, link] : ordered)
            links.push_back(std::move(link));
    }
    return links;
}

} // namespace forkpoint
