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

StepPlan planOne(const Run &a, const Run &b, StepSelection::Pair wanted)
{
    StepPlan plan;
    const auto stepsA = byNumber(a), stepsB = byNumber(b);
    const auto inA = stepsA.find(wanted.a), inB = stepsB.find(wanted.b);
    if (inA == stepsA.end())
        plan.refusal = lacks("A", wanted.a, a);
    else if (inB == stepsB.end())
        plan.refusal = lacks("B", wanted.b, b);
    else
        plan.steps.push_back({wanted.a, inA->second, inB->second, false});
    return plan;
}

std::size_t newestComplete(const Run &run)
{
    for (std::size_t i = run.steps().size(); i-- > 0;) {
        if (run.steps()[i].complete)
            return i;
    }
    return run.steps().size() - 1;
}

/// At least one side is a single checkpoint.
StepPlan planSingle(const Run &a, const Run &b)
{
    StepPlan plan;
    const auto pick = [](const Run &run, const Run &other) -> std::size_t {
        if (!run.isSeries() || run.steps().size() == 1)
            return run.steps().size() == 1 ? 0 : newestComplete(run);
        const auto wanted = other.steps().front().step;
        const auto steps = byNumber(run);
        const auto found = wanted ? steps.find(*wanted) : steps.end();
        return found != steps.end() ? found->second : newestComplete(run);
    };
    const std::size_t indexA = pick(a, b), indexB = pick(b, a);
    const auto step = a.steps()[indexA].step ? a.steps()[indexA].step : b.steps()[indexB].step;
    plan.steps.push_back({step, indexA, indexB, false});
    return plan;
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
        planned.hole = (!planned.a || !planned.b) && step >= from && step <= to;
        plan.steps.push_back(planned);
    }
    const bool common = std::any_of(plan.steps.begin(), plan.steps.end(),
                                    [](const PlannedStep &step) { return step.a && step.b; });
    if (!common)
        plan.refusal = "the two series have no step in common";
    return plan;
}

} // namespace

StepPlan planSteps(const Run &a, const Run &b, const StepSelection &selection)
{
    for (const auto &[side, run] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
        if (run->steps().empty())
            return {{}, std::string(side) + " holds no checkpoint"};
    }
    if (selection.only)
        return planOne(a, b, *selection.only);
    const bool series = a.steps().size() > 1 && b.steps().size() > 1;
    const bool numbered = a.isSeries() && b.isSeries();
    if (!series && !numbered)
        return planSingle(a, b);
    return planSeries(a, b, selection);
}

} // namespace forkpoint
