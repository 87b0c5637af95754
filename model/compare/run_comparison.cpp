// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/run_comparison.h"

#include "model/compare/deciding_row.h"

#include "model/metrics/metric_kind.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace forkpoint {

namespace {

/// "lm_head.weight (weight)"; of the metric "loss" just that. A file that is one object has an item without a name.
std::string named(const std::string &name, const std::string &stage)
{
    if (name == stage)
        return name;
    return (name.empty() ? "the object itself" : name) + " (" + stage + ")";
}

/// Causal order inside one checkpoint: a batch or a generator acts before the optimizer that
/// consumes the gradient, and that before the weights it updates.
int causalRank(StateClass stateClass)
{
    switch (stateClass) {
    case StateClass::Data: return 0;
    case StateClass::Rng: return 1;
    case StateClass::Scheduler: return 2;
    case StateClass::Counter: return 3;
    case StateClass::Scaler: return 4;
    case StateClass::Optimizer: return 6;
    case StateClass::Weights: return 7;
    default: return 8;
    }
}

/// What is computed on the way has no class: its stage tells where among them it stands.
std::pair<int, std::size_t> causalRank(StateClass stateClass, std::string_view stage)
{
    constexpr int OnTheWay = 5; // behind what a step begins with, before what it ends with
    if (stateClass == StateClass::Unknown && isInChain(stage))
        return {OnTheWay, causalPlace(stage)};
    return {causalRank(stateClass), 0};
}

/// The stage of the causal chain that an item's name and class speak of.
std::string stageByName(std::string_view name, StateClass stateClass)
{
    if (name == "loss" || name.ends_with(".loss"))
        return "loss";
    if (name.ends_with("grad_norm"))
        return "grad_norm";
    if (name.starts_with("grad.") || name.starts_with("grads."))
        return "backward";
    if (name.starts_with("act.") || name.starts_with("activations."))
        return "forward";
    switch (stateClass) {
    case StateClass::Data: return "batch";
    case StateClass::Rng: return "rng";
    case StateClass::Scheduler: return "scheduler";
    case StateClass::Counter: return "counter";
    case StateClass::Scaler: return "scaler";
    case StateClass::Optimizer: return "optimizer";
    case StateClass::Weights: return "weight";
    default: return "unknown";
    }
}

struct Candidate
{
    std::uint64_t executionOrder = NoOrder;
    std::pair<int, std::size_t> rank;
    std::string name;
    StateClass stateClass = StateClass::Unknown;
    ItemStatus status = ItemStatus::Different;
    std::string stage;
    std::shared_ptr<const RecordedPlace> recorded = {};

    auto key() const { return std::tie(executionOrder, rank, name); }
};

std::vector<Candidate> differingItems(const CheckpointComparison &comparison)
{
    std::vector<Candidate> items;
    for (const TensorRow &row : comparison.tensors) {
        if (decides(row))
            items.push_back({row.executionOrder, causalRank(row.stateClass, stageOf(row)), row.name,
                             row.stateClass, row.status, stageOf(row), row.recorded});
    }
    for (const ValueRow &row : comparison.values) {
        if (decides(row))
            items.push_back({NoOrder, causalRank(row.stateClass, stageOf(row)), row.name,
                             row.stateClass, row.status, stageOf(row)});
    }
    return items;
}

/// The recorded item right before `order`, if everything recorded before it is identical.
std::string lastEqualBefore(const CheckpointComparison &comparison, std::uint64_t order)
{
    const TensorRow *last = nullptr;
    for (const TensorRow &row : comparison.tensors) {
        if (row.executionOrder >= order)
            continue;
        if (row.status != ItemStatus::Identical)
            return {};
        if (!last || row.executionOrder > last->executionOrder)
            last = &row;
    }
    return last ? last->name : std::string();
}

} // namespace

std::string_view toString(StepStatus status)
{
    switch (status) {
    case StepStatus::Identical: return "identical";
    case StepStatus::Different: return "different";
    case StepStatus::OnlyInA: return "only-in-a";
    case StepStatus::OnlyInB: return "only-in-b";
    case StepStatus::Undecided: return "undecided";
    case StepStatus::Pending: return "pending";
    }
    return "undecided";
}

std::string_view toString(StepLane lane)
{
    return lane == StepLane::Trace ? "trace" : "checkpoint";
}

std::string stageOf(const TensorRow &row)
{
    if (row.recorded && !row.recorded->stage.empty())
        return row.recorded->stage;
    return stageByName(row.name, row.stateClass);
}

std::string stageOf(const ValueRow &row)
{
    return stageByName(row.name, row.stateClass);
}

std::optional<FirstDivergence> withMetrics(std::optional<FirstDivergence> divergence,
                                           const std::vector<MetricComparison> &metrics)
{
    if (!divergence || !divergence->step)
        return divergence;
    const auto placeOf = [](Step step, std::string_view stage) {
        return std::pair(step, causalPlace(stage));
    };
    // Of a checkpoint everything comes after what its step computed.
    const bool isRecord = !divergence->divergenceClass.empty() || divergence->microBatch;
    auto earliest = isRecord
        ? placeOf(*divergence->step, divergence->stage)
        : std::pair(*divergence->step, std::numeric_limits<std::size_t>::max());
    const MetricComparison *first = nullptr;
    for (const MetricComparison &metric : metrics) {
        const std::string_view stage = stageOfMetric(metric.name);
        if (stage.empty() || !metric.bitsKnown || !metric.firstBitDifference)
            continue;
        const auto place = placeOf(*metric.firstBitDifference, stage);
        if (place < earliest) {
            earliest = place;
            first = &metric;
        }
    }
    if (!first)
        return divergence;
    FirstDivergence result;
    result.step = earliest.first;
    result.stage = stageOfMetric(first->name);
    result.name = first->name;
    if (divergence->provenEqualStep && *divergence->provenEqualStep < earliest.first) {
        result.provenEqualStep = divergence->provenEqualStep;
        result.provenEqualBefore = divergence->provenEqualBefore;
    }
    const std::string at = "step " + std::to_string(earliest.first);
    result.sentence =
        (result.provenEqualStep ? "Between step " + std::to_string(*result.provenEqualStep)
                 + " (equal) and " + at + ": "
                                : "At " + at + ": ")
        + named(first->name, result.stage) + " differs in its bits first; " + divergence->name
        + " (" + divergence->stage + ") is the first item that differs, at step "
        + std::to_string(*divergence->step) + ".";
    return result;
}

std::optional<FirstDivergence> firstDivergenceIn(const CheckpointComparison &comparison)
{
    const std::vector<Candidate> items = differingItems(comparison);
    if (items.empty())
        return std::nullopt;
    const Candidate &first = *std::min_element(
        items.begin(), items.end(),
        [](const Candidate &left, const Candidate &right) { return left.key() < right.key(); });
    FirstDivergence divergence;
    divergence.name = first.name;
    divergence.stage = first.stage;
    if (first.recorded) {
        divergence.microBatch = first.recorded->microBatch;
        divergence.rank = first.recorded->rank;
    }
    const bool missing = first.status == ItemStatus::OnlyInA || first.status == ItemStatus::OnlyInB;
    divergence.kind = missing ? "missing" : "value";
    if (missing)
        divergence.onlyIn = first.status == ItemStatus::OnlyInA ? "A" : "B";
    if (first.executionOrder != NoOrder)
        divergence.provenEqualName = lastEqualBefore(comparison, first.executionOrder);
    return divergence;
}

FirstDivergence divergenceOf(const MetricComparison &metric)
{
    FirstDivergence divergence;
    divergence.step = metric.firstProvenDifference;
    divergence.stage = metricStage(metric.name);
    divergence.name = metric.name;
    divergence.sentence = "Among what was logged, " + named(metric.name, divergence.stage)
        + " differs first, at step " + std::to_string(*metric.firstProvenDifference)
        + (metric.bitsKnown ? "" : " as printed")
        + "; the fork lies at or before it, since a log does not show the state.";
    return divergence;
}

std::string divergenceSentence(const FirstDivergence &divergence, const StepsLookedAt &steps)
{
    const std::string what = named(divergence.name, divergence.stage);
    const std::string verb =
        divergence.onlyIn.empty() ? " differs" : " is only in " + divergence.onlyIn;
    if (!divergence.step || !steps.series)
        return what + verb + "; what came before is not in this pair.";
    const std::string at = "step " + std::to_string(*divergence.step);
    if (!divergence.provenEqualName.empty() && divergence.provenEqualBefore)
        return "In " + at + ", " + what + verb + "; everything recorded before it is equal, up to "
            + divergence.provenEqualName + ".";
    if (divergence.provenEqualStep)
        return "Between step " + std::to_string(*divergence.provenEqualStep) + " (equal) and " + at
            + " (different): " + what + verb
            + (steps.isOrderKnown ? " first in causal order." : ".");
    if (steps.numberInB)
        return "In A's " + at + " against B's step " + std::to_string(*steps.numberInB) + ", "
            + what + verb + "; no other steps were compared.";
    if (steps.earlierLeftOut)
        return "In " + at + ", " + what + verb
            + "; earlier common steps were left out by what was asked for, so the fork lies at or "
              "before it.";
    return "At the first common step, " + at + ", " + what + verb
        + "; no earlier step is common to both, so the fork lies at or before it.";
}

} // namespace forkpoint
