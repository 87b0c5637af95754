// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/metrics/metric_comparison.h"
#include "model/run.h"
#include "model/traces/causal_chain.h"
#include "model/traces/trace_comparison.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What was looked at in a step.
enum class StepLane { Checkpoint, Trace };

std::string_view toString(StepLane lane);

enum class StepStatus { Identical, Different, OnlyInA, OnlyInB, Undecided, Pending };

std::string_view toString(StepStatus status);

/// One step on the axis of both series.
struct StepMark
{
    Step step = 0;
    StepStatus status = StepStatus::Pending;
    std::uint64_t different = 0; ///< tensors and values of state that differ
    std::string reason;          ///< with Undecided
    StepLane lane = StepLane::Checkpoint;
    bool inferred = false; ///< from steps on both of its sides, without being read
};

/// Where two runs part, with what proves it.
struct FirstDivergence
{
    std::optional<Step> step;
    std::string
        stage;        ///< "restored", "optimizer", "rng", "batch", "forward", "loss", "weight", ...
    std::string name; ///< of the first item that differs, in causal (or recorded) order
    std::string kind = "value"; ///< or "missing", "control-flow", "order"
    std::string onlyIn; ///< "A" or "B": of a checkpoint's item that is missing on the other side
    std::optional<std::int64_t> microBatch, rank;
    std::optional<TraceCoordinate> coordinate; ///< of a trace that names its axes
    std::optional<std::uint64_t> call;
    std::string divergenceClass; ///< of a record: "origin", "receiver", "unclassified"
    std::string provenEqualStage;
    std::string probe;                   ///< what to record to know more
    std::optional<Step> provenEqualStep; ///< the last common step before, proven equal
    std::string provenEqualName;         ///< the last recorded item before it, proven equal
    bool provenEqualBefore = false;
    std::vector<LeafDifference> where; ///< in its tensors, where a trace keeps digests of leaves
    std::string sentence;
};

/// Two runs, compared step by step. A single pair of checkpoints is a run of one step.
struct RunComparison
{
    std::string pathA, pathB, formatA, formatB;
    bool seriesA = false, seriesB = false;
    std::optional<Step> shownStep; ///< of `shown`: the first that differs, else the last common
    CheckpointComparison shown;
    std::vector<StepMark> steps; ///< sorted; empty unless both sides are series
    std::optional<FirstDivergence> firstDivergence;
    std::vector<MetricComparison> metrics;
    std::shared_ptr<const TraceComparison> trace; ///< where both have one
    std::vector<ChainLink> chain;                 ///< by step, then causal order
    std::vector<RankSummary> ranks;               ///< of both traces
    std::optional<NextCapture> nextCapture;
    Verdict verdict; ///< of the runs: every common step, not only `shown`
    std::vector<Finding> findings;
    Diagnostics diagnostics;
    bool finished = false;
};

/// The stage of the causal chain that an item speaks of: recorded, or by its name and class.
std::string stageOf(const TensorRow &row);
std::string stageOf(const ValueRow &row);

/// The divergence, or a loss or norm that differs before it in the causal chain: a checkpoint holds
/// what was there when its step had ended. A metric alone is no divergence.
std::optional<FirstDivergence> withMetrics(std::optional<FirstDivergence> divergence,
                                           const std::vector<MetricComparison> &metrics);

/// The first item of a comparison that differs, in recorded execution order where there is one,
/// else in causal order of the classes (data, rng, scheduler, counter, scaler, optimizer, weights,
/// unknown), then by name. Nothing if no state item differs.
std::optional<FirstDivergence> firstDivergenceIn(const CheckpointComparison &comparison);

/// Where logged numbers part: an upper bound, since what was not logged may differ before.
FirstDivergence divergenceOf(const MetricComparison &metric);

/// Which steps the user's selection let be compared.
struct StepsLookedAt
{
    bool series = false;
    bool earlierLeftOut = false;   ///< earlier common steps were not looked at
    std::optional<Step> numberInB; ///< where a step of A met another number of B
    bool isOrderKnown = true;      ///< nothing beside it may come first
};

/// One sentence on where two runs part and what proves it.
std::string divergenceSentence(const FirstDivergence &divergence, const StepsLookedAt &steps);

} // namespace forkpoint
