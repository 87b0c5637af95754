// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/step_plan.h"

#include <algorithm>
#include <map>

namespace forkpoint {

namespace {

std::map<Step, std::size_t> byNumber(const Run &run)
{
    std::map<Step, std::size_t> result;
    for (std::size_t i = 0; i < run.steps().size(); ++i) {
        if (run.steps()[i].step)
            result.emplace(*run.steps()[i].step, i);
    }
    return result;
}

std::string lacks(std::string_view side, Step step, const Run &run)
{
    std::string text = std::string(side) + " has no step " + std::to_string(step) + "; it has";
    const auto steps = byNumber(run);
    if (steps.empty())
        return text + " none";
    std::size_t shown = 0;
    for (const auto &[number, index] : steps) {
        if (++shown > 12)
            return text + " ...";
        text += " " + std::to_string(number);
    }
    return text;
}

bool haveCommonBefore(const Run &a, const Run &b, Step first)
{
    const auto stepsA = byNumber(a), stepsB = byNumber(b);
    return std::any_of(stepsA.begin(), stepsA.lower_bound(first),
                       [&](const auto &step) { return stepsB.contains(step.first); });
}

/// A lone checkpoint without a number is what was meant, whatever number is asked for.
std::optional<std::size_t> findStep(const Run &run, Step wanted)
{
    if (!run.isSeries())
        return 0;
    const auto steps = byNumber(run);
    const auto found = steps.find(wanted);
    return found == steps.end() ? std::nullopt : std::optional(found->second);
}

StepPlan planOne(const Run &a, const Run &b, StepSelection::Pair wanted)
{
    StepPlan plan;
    const auto inA = findStep(a, wanted.a), inB = findStep(b, wanted.b);
    if (!a.isSeries() && !b.isSeries())
        plan.refusal = "neither side is a series, so there is no step to choose";
    else if (!inA)
        plan.refusal = lacks("A", wanted.a, a);
    else if (!inB)
        plan.refusal = lacks("B", wanted.b, b);
    else
        plan.steps.push_back({a.isSeries() ? wanted.a : wanted.b, inA, inB, false});
    plan.earlierLeftOut = haveCommonBefore(a, b, std::min(wanted.a, wanted.b));
    if (a.isSeries() && b.isSeries() && wanted.a != wanted.b)
        plan.numberInB = wanted.b;
    return plan;
}

/// The newest step that is no unfinished save: one that cannot be read is not passed over for an
/// older one without a word.
std::size_t newestFinished(const Run &run)
{
    const std::vector<RunStep> &steps = run.steps();
    const std::size_t newest = newestStep(run);
    for (std::size_t i = steps.size(); i-- > newest + 1;) {
        if (!steps[i].isUnfinished() && steps[i].isKept == steps[newest].isKept)
            return i;
    }
    return newest;
}

/// The number of a run of one checkpoint: its place in a series, or what its name says.
std::optional<Step> loneStep(const Run &run)
{
    const RunStep &only = run.steps().front();
    return only.step ? only.step : only.namedStep;
}

/// At least one side is a single checkpoint.
StepPlan planSingle(const Run &a, const Run &b)
{
    StepPlan plan;
    const auto pick = [&](std::string_view side, const Run &run, const Run &other) -> std::size_t {
        if (run.steps().size() == 1)
            return 0;
        const auto wanted = loneStep(other);
        if (!wanted)
            return newestFinished(run);
        const auto found = findStep(run, *wanted);
        if (!found)
            plan.refusal = lacks(side, *wanted, run) + "; --step chooses one";
        return found.value_or(0);
    };
    const std::size_t indexA = pick("A", a, b), indexB = pick("B", b, a);
    const auto step = a.steps()[indexA].step ? a.steps()[indexA].step : b.steps()[indexB].step;
    if (plan.refusal.empty())
        plan.steps.push_back({step, indexA, indexB, false});
    return plan;
}

std::string unfinishedSide(const Run &run, std::optional<std::size_t> index, std::string_view side)
{
    return index && run.steps()[*index].isUnfinished() ? std::string(side) : std::string();
}

StepPlan planSeries(const Run &a, const Run &b, const StepSelection &selection)
{
    StepPlan plan;
    const auto stepsA = byNumber(a), stepsB = byNumber(b);
    if (stepsA.empty() || stepsB.empty()) {
        plan.refusal = std::string("the checkpoints of ") + (stepsA.empty() ? "A" : "B")
            + " have no step numbers to align them by";
        return plan;
    }
    std::map<Step, PlannedStep> axis;
    for (const auto &[step, index] : stepsA)
        axis[step].a = index;
    for (const auto &[step, index] : stepsB)
        axis[step].b = index;
    const Step from = std::max(stepsA.begin()->first, stepsB.begin()->first);
    const Step to = std::min(stepsA.rbegin()->first, stepsB.rbegin()->first);
    for (auto &[step, planned] : axis) {
        if (selection.range && (step < selection.range->first || step > selection.range->second))
            continue;
        planned.step = step;
        planned.unfinished = unfinishedSide(a, planned.a, "A");
        if (planned.unfinished.empty())
            planned.unfinished = unfinishedSide(b, planned.b, "B");
        planned.hole = (!planned.a || !planned.b) && step >= from && step <= to;
        plan.steps.push_back(planned);
    }
    plan.earlierLeftOut = selection.range && haveCommonBefore(a, b, selection.range->first);
    const bool common = std::any_of(plan.steps.begin(), plan.steps.end(),
                                    [](const PlannedStep &step) { return step.a && step.b; });
    if (!common)
        plan.refusal = selection.range
            ? "no step that both series have lies in " + std::to_string(selection.range->first)
                + ":" + std::to_string(selection.range->second)
            : "the two series have no step in common";
    return plan;
}

StepPlan planMetrics(const Run &a, const Run &b, const StepSelection &selection)
{
    StepPlan plan;
    plan.metricsAlone = true;
    if (selection.only && selection.only->a != selection.only->b)
        plan.refusal =
            "logged numbers meet at equal steps: --step N or --steps FROM:TO chooses among "
            "them, N:M does not";
    if (selection.only)
        plan.metricSteps = {selection.only->a, selection.only->a};
    else
        plan.metricSteps = selection.range;
    for (const auto &[side, run] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
        if (plan.refusal.empty() && plan.metricSteps && !run->metrics().empty()
            && withinSteps(run->metrics(), *plan.metricSteps).empty())
            plan.refusal = std::string(side) + " logs nothing at " + toText(*plan.metricSteps);
    }
    if (plan.refusal.empty() && a.hasOnlyMetrics() && b.hasOnlyMetrics())
        plan.steps.push_back({std::nullopt, 0, 0, false});
    return plan;
}

} // namespace

StepPlan planSteps(const Run &a, const Run &b, const StepSelection &selection)
{
    for (const auto &[side, run] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
        if (run->steps().empty())
            return {{}, std::string(side) + " holds no checkpoint"};
    }
    if (a.hasOnlyMetrics() || b.hasOnlyMetrics())
        return planMetrics(a, b, selection);
    if (selection.only)
        return planOne(a, b, *selection.only);
    const bool series = a.steps().size() > 1 && b.steps().size() > 1;
    const bool numbered = a.isSeries() && b.isSeries();
    if (!series && !numbered && selection.range)
        return {{}, "a range of steps needs two series"};
    if (!series && !numbered)
        return planSingle(a, b);
    return planSeries(a, b, selection);
}

} // namespace forkpoint
