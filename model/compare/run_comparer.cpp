// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/run_comparer.h"

#include "model/compare/run_comparer_state.h"
#include "model/metrics/metric_findings.h"
#include "model/pairing/logical_sides.h"

#include <algorithm>
#include <tuple>

namespace forkpoint {

void RunComparer::State::prepare(const StepSelection &selection)
{
    result.pathA = a->path();
    result.pathB = b->path();
    result.formatA = a->format();
    result.formatB = b->format();
    facts.toleranceAsked = options.tolerance.asked();
    asked = selection;
    prepareTraces(selection);
    if (hasCheckpoints() || !tracer)
        prepareSteps(selection);
    if (!a->complete() || !b->complete())
        facts.incomplete = true;
}

void RunComparer::State::prepareSteps(const StepSelection &selection)
{
    plan = planSteps(*a, *b, selection);
    if (!plan.refusal.empty()) {
        facts.refused = true;
        facts.refusedReason = plan.refusal;
        return;
    }
    result.seriesA = result.seriesB = plan.steps.size() > 1 || (a->isSeries() && b->isSeries());
    for (const PlannedStep &step : plan.steps) {
        if (!series() || !step.step)
            continue;
        StepMark mark{*step.step, StepStatus::Pending, 0, {}};
        if (!step.a || !step.b)
            mark.status = step.a ? StepStatus::OnlyInA : StepStatus::OnlyInB;
        if (mark.status != StepStatus::Pending && step.unfinished.empty())
            ++facts.coverage.stepsOneSided;
        if (!step.unfinished.empty()) {
            ++facts.coverage.stepsUnfinished;
            mark.reason = step.unfinished + "'s save is not finished";
            if (step.a && step.b) {
                mark.status = StepStatus::Undecided;
                facts.incomplete = true;
            }
        }
        if (step.hole) {
            mark.reason = "missing on one side, inside the overlap of the two series";
            facts.hole = true;
        }
        result.steps.push_back(std::move(mark));
    }
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        if (isCompared(plan.steps[i]))
            common.push_back(i);
    }
    if (selection.bisect)
        bisection.emplace(common.size());
    if (selection.bisect && !series())
        result.diagnostics.push_back({Severity::Note,
                                      "bisect-idle",
                                      {},
                                      "--bisect",
                                      "has no effect: there is one step to compare, no series"});
    choose(0);
}

/// Both sides have it, finished, or it was asked for.
bool RunComparer::State::isCompared(const PlannedStep &step) const
{
    return step.a && step.b && (step.unfinished.empty() || !series());
}

/// The step to compare: the next one from `from` on, or the one that halves what is left.
void RunComparer::State::choose(std::size_t from)
{
    if (bisection) {
        const auto chosen = bisection->next();
        next = chosen ? common[*chosen] : plan.steps.size();
        return;
    }
    next = from;
    while (next < plan.steps.size() && !isCompared(plan.steps[next]))
        ++next;
}

void RunComparer::State::answer(StepBisection::Answer answer)
{
    if (bisection)
        bisection->tell(
            std::size_t(std::lower_bound(common.begin(), common.end(), next) - common.begin()),
            answer);
}

StepMark *RunComparer::State::markOf(std::optional<Step> step)
{
    if (!step)
        return nullptr;
    auto mark =
        std::lower_bound(result.steps.begin(), result.steps.end(), *step,
                         [](const StepMark &each, Step wanted) { return each.step < wanted; });
    while (mark != result.steps.end() && mark->step == *step && mark->lane != StepLane::Checkpoint)
        ++mark;
    return mark == result.steps.end() || mark->step != *step ? nullptr : &*mark;
}

/// Adds the facts of one more step. The strength is that of the steps in which something was
/// compared; why nothing was in the others, their facts say.
void RunComparer::State::addFacts(VerdictFacts &into, const VerdictFacts &step) const
{
    const Strength before = into.strength;
    merge(into, step);
    if (before == Strength::None || step.strength == Strength::None)
        into.strength = std::max(before, step.strength);
}

void RunComparer::State::failStep(const RunStep &step, const Error &error)
{
    result.diagnostics.push_back(toDiagnostic(error, Severity::Error));
    const bool isAmbiguous = !step.rivals.empty() && error.code == ErrorCode::Mismatch;
    StepMark *mark = markOf(plan.steps[next].step);
    if (mark) {
        mark->status = StepStatus::Undecided;
        mark->reason = error.message();
    }
    if (mark || isAmbiguous) {
        (isAmbiguous ? facts.ambiguous : facts.unreadable) = true;
        ++facts.coverage.stepsUnread;
        allEqual = allEqual && parted;
    } else {
        facts.refused = true;
        facts.refusedReason = error.message();
    }
    answer(StepBisection::Answer::Unknown);
    choose(next + 1);
}

void RunComparer::State::openStep(std::stop_token stop)
{
    const PlannedStep &step = plan.steps[next];
    std::optional<Result<std::shared_ptr<const TensorSource>>> sourceA, sourceB;
    const auto openSide = [&](std::size_t side) {
        if (side == 0)
            sourceA = a->open(*step.a, stop);
        else
            sourceB = b->open(*step.b, stop);
    };
    executor.forEach(2, openSide);
    if (!sourceA->ok() || !sourceB->ok()) {
        const bool isA = !sourceA->ok();
        const RunStep &failed = isA ? a->steps()[*step.a] : b->steps()[*step.b];
        if (stop.stop_requested())
            return;
        if (isA && !sourceB->ok())
            result.diagnostics.push_back(
                toDiagnostic(Error(sourceB->error()).atPlace("B"), Severity::Error));
        failStep(failed, Error((isA ? sourceA : sourceB)->error()).atPlace(isA ? "A" : "B"));
        return;
    }
    CompareOptions own = options;
    // Statistics belong to the step that is shown: the first that differs.
    own.measure = !parted || bisection;
    LogicalSides sides =
        logicalSides(std::move(*sourceA).value(), std::move(*sourceB).value(), own.pairing);
    comparer = std::make_unique<CheckpointComparer>(std::move(sides.a), std::move(sides.b),
                                                    std::move(own), backend, executor);
}

void RunComparer::State::takeStep(CheckpointComparison comparison)
{
    const PlannedStep &step = plan.steps[next];
    if (plan.metricsAlone) { // what the files say beside the numbers is context
        result.shown = std::move(comparison);
        comparer.reset();
        ++next;
        return;
    }
    addFacts(facts, comparison.facts);
    compared = true;
    const Outcome outcome = comparison.verdict.outcome;
    if (StepMark *mark = markOf(step.step)) {
        mark->status = outcome == Outcome::Different ? StepStatus::Different
            : outcome == Outcome::Identical || outcome == Outcome::WithinTolerance
            ? StepStatus::Identical
            : StepStatus::Undecided;
        mark->reason = outcome == Outcome::WithinTolerance
            ? "bits differ, within the tolerance asked for"
            : comparison.verdict.reason;
        for (const auto &[stateClass, summary] : comparison.byClass) {
            if (!isContext(stateClass))
                mark->different +=
                    summary.counts.different + summary.counts.onlyInA + summary.counts.onlyInB;
        }
    }
    chain.add(step.step, comparison);
    const bool differs = outcome == Outcome::Different;
    // The first that differs is shown: with bisection it comes late, and each is before the last.
    const bool later = !bisection || !result.shownStep || result.shownStep < step.step;
    if ((!parted && later) || (bisection && differs)) {
        result.shown = std::move(comparison);
        result.shownStep = step.step;
        parted = differs;
        if (parted) {
            result.firstDivergence = firstDivergenceIn(result.shown);
            describeDivergence();
        }
    }
    if (step.step && outcome == Outcome::Identical)
        equal.insert(*step.step);
    if (step.step && differs)
        unequal.insert(*step.step);
    if (outcome != Outcome::Identical && !bisection && !parted)
        allEqual = false;
    answer(differs                             ? StepBisection::Answer::Different
               : outcome == Outcome::Undecided ? StepBisection::Answer::Unknown
                                               : StepBisection::Answer::Equal);
    bytesOfDoneSteps += comparer->progress().bytesTotal;
    comparer.reset();
    choose(next + 1);
}

RunComparer::RunComparer(std::shared_ptr<const Run> a, std::shared_ptr<const Run> b,
                         StepSelection selection, CompareOptions options,
                         const ComputeBackend &backend, Executor &executor)
    : m_state(
        std::make_unique<State>(std::move(a), std::move(b), std::move(options), backend, executor))
{
    m_state->prepare(selection);
}

RunComparer::~RunComparer() = default;

bool RunComparer::advance(std::stop_token stop)
{
    State &state = *m_state;
    if (state.result.finished)
        return false;
    if (stop.stop_requested())
        return true;
    if (state.tracer) {
        if (!state.tracer->advance(stop) && !stop.stop_requested())
            state.takeTrace();
        return true;
    }
    if (!state.comparer) {
        if (state.facts.refused || state.next >= state.plan.steps.size()) {
            if (state.openKept(stop))
                return true;
            state.finish();
            return false;
        }
        state.openStep(stop);
        return true;
    }
    if (!state.comparer->advance(stop) && !stop.stop_requested()) {
        if (state.kept)
            state.takeKept(state.comparer->take());
        else
            state.takeStep(state.comparer->take());
    }
    return true;
}

Progress RunComparer::progress() const
{
    const State &state = *m_state;
    Progress progress;
    if (state.tracer) {
        progress.phase = "comparing traces";
        std::tie(progress.itemsDone, progress.itemsTotal) = state.tracer->progress();
        return progress;
    }
    if (state.comparer)
        progress = state.comparer->progress();
    if (state.series() && state.next < state.plan.steps.size() && state.plan.steps[state.next].step)
        progress.phase += " step " + std::to_string(*state.plan.steps[state.next].step);
    // Later steps have not been opened; they are taken to be as large as this one.
    const auto &common = state.common;
    const std::uint64_t later = state.bisection
        ? 0
        : std::uint64_t(common.end() - std::upper_bound(common.begin(), common.end(), state.next));
    progress.bytesTotal = state.bytesOfDoneSteps + progress.bytesTotal * (1 + later);
    progress.bytesDone += state.bytesOfDoneSteps;
    return progress;
}

RunComparison RunComparer::snapshot() const
{
    const State &state = *m_state;
    RunComparison result = state.result;
    VerdictFacts facts = state.facts;
    if (state.comparer) {
        CheckpointComparison running = state.comparer->snapshot();
        if (!state.kept)
            state.addFacts(facts, running.facts);
        if (!state.parted) {
            result.shown = std::move(running);
            result.shownStep = state.kept ? state.kept->step : state.plan.steps[state.next].step;
        }
    }
    facts.partial = !result.finished;
    result.verdict = decide(facts);
    if (!state.plan.metricsAlone)
        tellOfLogs(result.verdict, result.metrics);
    if (state.plan.metricSteps)
        tellOfSteps(result.verdict, *state.plan.metricSteps);
    return result;
}

} // namespace forkpoint
