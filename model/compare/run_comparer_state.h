// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of RunComparer, for the files that make it up: run_comparer.cpp (steps of checkpoints),
// run_comparer_traces.cpp (traces and the tensors they kept), run_comparer_finish.cpp (what is said of all).
#pragma once

#include "model/compare/run_comparer.h"
#include "model/compare/step_bisection.h"
#include "model/traces/causal_chain.h"
#include "model/traces/trace_comparer.h"

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

namespace forkpoint {

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
    std::uint64_t stepsOfOneTrace(const TraceCoverage &coverage) const;
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
    void compareLogs(const std::vector<MetricSeries> &inA, const std::vector<MetricSeries> &inB);
    void selectMetrics();
    StepMark *markOf(std::optional<Step> step);
};

} // namespace forkpoint
