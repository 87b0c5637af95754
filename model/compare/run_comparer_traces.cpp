// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/run_comparer_state.h"
#include "model/format.h"
#include "model/traces/trace_divergence.h"

#include <algorithm>

namespace forkpoint {

namespace {

std::uint64_t recordsIn(const Trace &trace)
{
    std::uint64_t records = 0;
    for (const TraceStream &stream : trace.streams()) {
        for (const TraceSegment &segment : stream.segments)
            records += segment.records;
    }
    return records;
}

} // namespace

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

/// Steps that one trace alone has, but those of which the checkpoints say so.
std::uint64_t RunComparer::State::stepsOfOneTrace(const TraceCoverage &coverage) const
{
    std::set<Step> steps(coverage.iterationsOnlyA.begin(), coverage.iterationsOnlyA.end());
    steps.insert(coverage.iterationsOnlyB.begin(), coverage.iterationsOnlyB.end());
    for (const StepMark &mark : result.steps) {
        if (mark.status == StepStatus::OnlyInA || mark.status == StepStatus::OnlyInB)
            steps.erase(mark.step);
    }
    return steps.size();
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
    own.coverage.stepsOneSided += stepsOfOneTrace(trace.coverage);
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

} // namespace forkpoint
