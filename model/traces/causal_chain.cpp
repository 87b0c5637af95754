// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/causal_chain.h"

#include "model/compare/comparison.h"
#include "model/compare/run_comparison.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace forkpoint {

namespace {

/// What every training step has, whether it was recorded or not.
constexpr std::array<std::string_view, 7> Expected = {"batch", "forward",   "loss",  "backward",
                                                      "grad",  "grad_norm", "weight"};

} // namespace

LinkSum &CausalChain::sumOf(std::optional<std::int64_t> step, const std::string &stage)
{
    const auto [place, isNew] = m_steps[step].try_emplace(stage);
    if (isNew)
        place->second.order = ++m_order;
    return place->second.evidence;
}

void CausalChain::add(const TraceComparison &trace)
{
    for (const StageSummary &stage : trace.stages)
        sumOf(stage.iteration, stage.stage).add(stage.evidence, stage.oneSided);
}

void CausalChain::add(std::optional<std::int64_t> step, const CheckpointComparison &checkpoint)
{
    const auto take = [&](const auto &row, const std::string &stage) {
        if (isContext(row.stateClass))
            return;
        LinkSum &sum = sumOf(step, stage);
        const bool isEqual = row.status == ItemStatus::Identical;
        // What is within a tolerance is no difference to the user, and nothing proven equal.
        if (row.status == ItemStatus::NotCompared || row.withinTolerance)
            sum.addUnknown();
        else
            sum.add(isEqual,
                    isEqual ? checkpoint.facts.strength : checkpoint.facts.differenceStrength);
    };
    for (const TensorRow &row : checkpoint.tensors)
        take(row, stageOf(row));
    for (const ValueRow &row : checkpoint.values)
        take(row, stageOf(row));
}

void CausalChain::add(std::optional<std::int64_t> step, const std::string &stage, bool equal,
                      Strength strength)
{
    // Numbers that read alike add nothing to what is known, and must not weaken what is proven.
    const bool saysNothingNew = equal && !provesEquality(strength) && m_steps[step].contains(stage);
    if (!saysNothingNew)
        sumOf(step, stage).add(equal, strength);
}

std::vector<ChainLink> CausalChain::links() const
{
    std::vector<ChainLink> links;
    for (const auto &[step, stages] : m_steps) {
        std::vector<std::pair<std::tuple<std::size_t, std::size_t>, ChainLink>> ordered;
        for (const auto &[stage, link] : stages) {
            ordered.emplace_back(std::tuple(causalPlace(stage), link.order),
                                 link.evidence.link(step, stage));
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
