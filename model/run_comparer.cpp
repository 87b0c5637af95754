// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/run_comparer.h"

#include "model/causal_chain.h"
#include "model/format.h"
#include "model/logical_sides.h"
#include "model/metric_findings.h"
#include "model/metric_kind.h"
#include "model/run_conclusions.h"
#include "model/step_bisection.h"
#include "model/trace_comparer.h"
#include "model/trace_divergence.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace forkpoint {

namespace {

/// A step between the last equal one and the first that differs, of which nothing is known.
std::string openBetween(const RunComparison &result)
{
    const FirstDivergence &divergence = *result.firstDivergence;
    if (!divergence.provenEqualStep || !divergence.step)
        return {};
    const auto open =
        std::find_if(result.steps.begin(), result.steps.end(), [&](const StepMark &mark) {
            return mark.status == StepStatus::Undecided && mark.step > *divergence.provenEqualStep
                && mark.step < *divergence.step;
        });
    return open == result.steps.end() ? std::string()
                                      : " Step " + std::to_string(open->step)
            + " between them could not be compared whole: it may begin there.";
}

std::uint64_t recordsIn(const Trace &trace)
{
    std::uint64_t records = 0;
    for (const TraceStream &stream : trace.streams()) {
        for (const TraceSegment &segment : stream.segments)
            records += segment.records;
    }
    return records;
}

std::vector<MetricSeries> selected(const std::vector<MetricSeries> &all,
                                   const PairingOptions &options)
{
    std::vector<MetricSeries> result;
    std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                 [&](const MetricSeries &series) { return passesGlobs(series.name, options); });
    return result;
}

/// "step 6 is", "steps 6, 9 and 12 are", "steps 6, 9, 12 and 40 more are".
std::string listed(const std::vector<Step> &steps)
{
    constexpr std::size_t Shown = 3;
    std::string text = steps.size() == 1 ? "step " : "steps ";
    const std::size_t shown = std::min(steps.size(), Shown);
    for (std::size_t i = 0; i < shown; ++i) {
        const bool isLast = i > 0 && i + 1 == steps.size();
        text += (i == 0 ? "" : isLast ? " and " : ", ") + std::to_string(steps[i]);
    }
    if (steps.size() > shown)
        text += " and " + std::to_string(steps.size() - shown) + " more";
    return text + (steps.size() == 1 ? " is" : " are");
}

/// Of runs that part and are equal later: a fork that lasts, if there is one, lies after that.
std::string metAgain(const FirstDivergence &divergence, const std::vector<Step> &equalAgain,
                     const std::set<Step> &unequal)
{
    std::string text = "Step " + std::to_string(*divergence.step) + " differs";
    if (!divergence.name.empty())
        text += " (first " + divergence.name + ")";
    text += ", and " + listed(equalAgain) + " equal again: this difference did not persist";
    const auto again = unequal.lower_bound(equalAgain.front());
    if (again != unequal.end())
        text += "; step " + std::to_string(*again) + " differs again";
    return text + ".";
}

} // namespace

struct RunComparer::State
{
    std::shared_ptr<const Run> allA, allB; ///< with the steps of which traces kept tensors
    std::shared_ptr<const Run> a, b;       ///< their checkpoints
    CompareOptions options;
    const ComputeBackend &backend;
    Executor &executor;

    StepPlan plan;
    std::size_t next = 0; ///< into plan.steps
    /// With bisection: the steps that can be compared, and what is known of them.
    std::vector<std::size_t> common;
    std::optional<StepBisection> bisection;
    std::unique_ptr<CheckpointComparer> comparer;
    VerdictFacts facts;                    ///< of the steps that are done
    bool compared = false;                 ///< some step was: its facts are among `facts`
    bool parted = false;                   ///< some step differs: it is the one shown
    std::set<Step> equal, unequal;         ///< steps that were read and proven to be so
    bool allEqual = true;                  ///< no step before the first that differs was left open
    std::unique_ptr<TraceComparer> tracer; ///< until both traces are compared
    CausalChain chain;
    RunComparison result;
    std::uint64_t bytesOfDoneSteps = 0;
    const RunStep *kept = nullptr; ///< whose tensors are compared, for looking at alone
    StepSelection asked;
    bool keptTried = false;

    State(std::shared_ptr<const Run> runA, std::shared_ptr<const Run> runB,
          CompareOptions compareOptions, const ComputeBackend &computeBackend,
          Executor &workExecutor)
        : allA(std::move(runA)),
          allB(std::move(runB)),
          a(withoutKept(allA)),
          b(withoutKept(allB)),
          options(std::move(compareOptions)),
          backend(computeBackend),
          executor(workExecutor)
    {
    }

    void prepare(const StepSelection &selection);
    void prepareTraces(const StepSelection &selection);
    void prepareSteps(const StepSelection &selection);
    void takeTrace();
    bool hasCheckpoints() const { return !a->steps().empty() && !b->steps().empty(); }
    bool series() const { return result.seriesA && result.seriesB; }
    bool isCompared(const PlannedStep &step) const;
    void choose(std::size_t from);
    void answer(StepBisection::Answer answer);
    void infer();
    void openStep(std::stop_token stop);
    const RunStep *keptToShow() const;
    std::optional<Step> stepInB(std::optional<Step> step) const;
    bool openKept(const std::stop_token &stop);
    void takeKept(CheckpointComparison comparison);
    void failStep(const RunStep &step, const Error &error);
    void takeStep(CheckpointComparison comparison);
    void addFacts(VerdictFacts &into, const VerdictFacts &step) const;
    void finish();
    void joinEvidence();
    void describeDivergence();
    void compareLogs();
    void selectMetrics();
    StepMark *markOf(std::optional<Step> step);
};

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

void RunComparer::State::prepareTraces(const StepSelection &selection)
{
    const auto traceA = a->trace(), traceB = b->trace();
    if (!traceA || !traceB) {
        if (traceA || traceB) {
            const std::uint64_t records = recordsIn(traceA ? *traceA : *traceB);
            facts.coverage.recordsTotal += records;
            result.diagnostics.push_back({Severity::Warning,
                                          "one-trace",
                                          traceA ? a->path() : b->path(),
                                          {},
                                          "has a trace of " + counted(records, "record", "records")
                                              + ", the other side has none; it is not compared"});
        }
        return;
    }
    tracer = std::make_unique<TraceComparer>(traceA, traceB,
                                             TraceRequest{selection, options.pairing}, &executor);
}

/// What the traces say goes into the one verdict, the one chain and the marks of the steps.
void RunComparer::State::takeTrace()
{
    const TraceComparison &trace = tracer->result();
    VerdictFacts own = trace.facts;
    if (own.refused && hasCheckpoints()) {
        // The checkpoints are compared all the same.
        own = VerdictFacts{};
        own.notComparable = true;
        result.diagnostics.push_back({Severity::Warning, "traces-refused", {}, {}, trace.refusal});
    }
    addFacts(facts, own);
    compared = compared || !own.refused;
    chain.add(trace);
    result.trace = std::make_shared<const TraceComparison>(trace);
    result.ranks = summarizeRanks(trace);
    result.diagnostics.insert(result.diagnostics.end(), trace.diagnostics.begin(),
                              trace.diagnostics.end());
    for (StepMark &mark : stepMarks(trace))
        result.steps.push_back(std::move(mark));
    std::stable_sort(result.steps.begin(), result.steps.end(),
                     [](const StepMark &x, const StepMark &y) { return x.step < y.step; });
    tracer.reset();
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

/// What the ends prove of the steps between that were not read. That is no equality of bytes.
void RunComparer::State::infer()
{
    if (!bisection)
        return;
    const std::vector<StepBisection::Answer> inferred = bisection->inferred();
    bool anyEqual = false;
    for (std::size_t i = 0; i < common.size(); ++i) {
        StepMark *mark = markOf(plan.steps[common[i]].step);
        if (!mark || mark->status != StepStatus::Pending)
            continue;
        const StepBisection::Answer answer = inferred[i];
        mark->inferred = true;
        ++facts.coverage.stepsInferred;
        mark->status = answer == StepBisection::Answer::Equal ? StepStatus::Identical
            : answer == StepBisection::Answer::Different      ? StepStatus::Different
                                                              : StepStatus::Undecided;
        mark->reason = "not read: between steps that were";
        anyEqual |= mark->status != StepStatus::Different;
    }
    facts.incomplete |= anyEqual;
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

/// Of traces without checkpoints the step at which they part, if both kept tensors of it, else the
/// next that they kept, else the last.
const RunStep *RunComparer::State::keptToShow() const
{
    if (hasCheckpoints() || !result.trace)
        return nullptr;
    const auto divergence = forkpoint::firstDivergenceIn(*result.trace);
    const Step from = divergence ? divergence->step.value_or(0) : 0;
    const RunStep *last = nullptr;
    for (const RunStep &step : allA->steps()) {
        const bool isAsked =
            !asked.range || (step.step >= asked.range->first && step.step <= asked.range->second);
        const bool isMet = asked.only ? step.step == asked.only->a : isAsked;
        const bool isCommon = step.isKept && isMet
            && std::any_of(allB->steps().begin(), allB->steps().end(), [&](const RunStep &other) {
                                  return other.isKept && other.step == stepInB(step.step);
                              });
        if (!isCommon)
            continue;
        last = &step;
        if (divergence && step.step.value_or(from) >= from)
            break;
    }
    return last;
}

/// The step of B that a step of A meets.
std::optional<Step> RunComparer::State::stepInB(std::optional<Step> step) const
{
    return asked.only ? std::optional(asked.only->b) : step;
}

/// True where tensors that the traces kept are to be compared now.
bool RunComparer::State::openKept(const std::stop_token &stop)
{
    if (keptTried)
        return false;
    keptTried = true;
    const RunStep *const step = keptToShow();
    if (!step)
        return false;
    std::shared_ptr<const TensorSource> sources[2];
    for (std::size_t side = 0; side < 2; ++side) {
        const Trace &trace = *(side == 0 ? *allA : *allB).trace();
        auto source = trace.kept(side == 0 ? step->step : stepInB(step->step), stop);
        if (!source.ok()) {
            result.diagnostics.push_back(toDiagnostic(source.error(), Severity::Warning));
            return false;
        }
        sources[side] = std::move(*source);
    }
    CompareOptions own = options;
    own.measure = true;
    kept = step;
    comparer = std::make_unique<CheckpointComparer>(sources[0], sources[1], std::move(own), backend,
                                                    executor);
    return true;
}

/// The traces have decided already, with what they recorded of all tensors.
void RunComparer::State::takeKept(CheckpointComparison comparison)
{
    result.shown = std::move(comparison);
    result.shownStep = kept->step;
    kept = nullptr;
    comparer.reset();
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

void RunComparer::State::describeDivergence()
{
    if (!result.firstDivergence)
        return;
    FirstDivergence &divergence = *result.firstDivergence;
    divergence.step = result.shownStep;
    divergence.provenEqualStep.reset();
    const auto later = divergence.step ? equal.lower_bound(*divergence.step) : equal.end();
    if (divergence.step && later != equal.begin())
        divergence.provenEqualStep = *std::prev(later);
    const bool firstOfOrder = divergence.provenEqualName.empty();
    divergence.provenEqualBefore =
        allEqual && (divergence.provenEqualStep.has_value() || (!firstOfOrder && series()));
    divergence.sentence =
        divergenceSentence(divergence, {series(), plan.earlierLeftOut, plan.numberInB})
        + openBetween(result);
    if (later != equal.end())
        divergence.sentence = metAgain(divergence, {later, equal.end()}, unequal);
}

/// Where metrics decide, --include and --exclude are about them too.
void RunComparer::State::selectMetrics()
{
    std::erase_if(result.shown.findings, [&](const Finding &finding) {
        return finding.id == "selection-idle"
            && std::any_of(result.metrics.begin(), result.metrics.end(),
                           [&](const MetricComparison &metric) {
                               return globMatches(finding.where.front(), metric.name);
                           });
    });
    std::erase_if(result.metrics, [&](const MetricComparison &metric) {
        return !passesGlobs(metric.name, options.pairing);
    });
}

void RunComparer::State::compareLogs()
{
    for (Finding &finding : metricFindings(result.metrics, hasCheckpoints() && parted))
        result.findings.push_back(std::move(finding));
    const auto takes = [&](std::string_view name) {
        return !plan.metricsAlone || passesGlobs(std::string(name), options.pairing);
    };
    if (!plan.numberInB) {
        if (auto lone = loneMetrics(a->metrics(), b->metrics(), result.metrics, takes))
            result.findings.push_back(*std::move(lone));
    }
    if (!plan.metricsAlone)
        return;
    addFacts(facts,
             metricFacts(selected(a->metrics(), options.pairing),
                         selected(b->metrics(), options.pairing), result.metrics));
    // A checkpoint has no partner in a log.
    facts.oneSidedIncomplete |= plan.steps.empty();
    if (const MetricComparison *first = firstToPart(result.metrics))
        result.firstDivergence = divergenceOf(*first);
}

/// One chain over checkpoints and traces, and the earliest link that differs.
void RunComparer::State::joinEvidence()
{
    for (const MetricComparison &metric : result.metrics) {
        const std::string stage(stageOfMetric(metric.name));
        for (const MetricDifference &entry : metric.differences) {
            if (!stage.empty() && entry.steps == 1)
                chain.add(entry.first, stage, entry.different == 0,
                          metric.bitsKnown ? Strength::Bytes : Strength::Printed);
        }
    }
    if (series() || result.trace || !result.metrics.empty())
        result.chain = chain.links(); // of one pair of files the classes say as much
    if (result.trace)
        result.firstDivergence =
            earlier(std::move(result.firstDivergence), firstDivergenceIn(*result.trace));
    result.firstDivergence = withMetrics(std::move(result.firstDivergence), result.metrics);
    if (!result.trace)
        return;
    if (result.firstDivergence) {
        std::string holes;
        for (const std::string &stage : holesBefore(result.chain, *result.firstDivergence))
            holes += (holes.empty() ? "" : ", ") + stage;
        if (!holes.empty())
            result.firstDivergence->sentence +=
                " Not recorded before it in this step: " + holes + ".";
    }
    result.findings.insert(result.findings.end(), result.trace->findings.begin(),
                           result.trace->findings.end());
    result.nextCapture = nextCapture(*result.trace, result.firstDivergence, decide(facts));
}

void RunComparer::State::finish()
{
    if (!compared && !facts.refused && !facts.ambiguous && !plan.metricsAlone) {
        facts.refused = true;
        facts.refusedReason = "no step could be opened on both sides";
        for (const StepMark &mark : result.steps) {
            if (mark.status == StepStatus::Undecided && !mark.reason.empty()) {
                facts.refusedReason += "; " + mark.reason;
                break;
            }
        }
    }
    infer();
    if (parted)
        describeDivergence();
    // Metrics are aligned by equal numbers, which --step N:M does not ask for.
    if (!plan.numberInB)
        result.metrics = compareMetrics(a->metrics(), b->metrics());
    if (plan.metricsAlone)
        selectMetrics();
    joinEvidence();
    compareLogs();
    for (Finding &finding : runConclusions(result))
        result.findings.push_back(std::move(finding));
    result.findings.insert(result.findings.begin(), result.shown.findings.begin(),
                           result.shown.findings.end());
    for (const auto &[side, run] : {std::pair{"A", a.get()}, std::pair{"B", b.get()}}) {
        for (const Diagnostic &diagnostic : run->diagnostics())
            result.diagnostics.push_back(ofSide(side, diagnostic));
    }
    result.diagnostics.insert(result.diagnostics.end(), result.shown.diagnostics.begin(),
                              result.shown.diagnostics.end());
    result.finished = true;
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
    return result;
}

} // namespace forkpoint
