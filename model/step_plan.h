// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/metric_steps.h"
#include "model/run.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// Which steps of two series to compare.
struct StepSelection
{
    struct Pair
    {
        Step a = 0, b = 0;
    };
    std::optional<Pair> only;                   ///< --step N[:M]
    std::optional<std::pair<Step, Step>> range; ///< --steps FROM:TO, inclusive
    bool bisect = false; ///< find the first differing step by halves; the others are inferred
};

/// One place on the common axis: a step of A, of B, or of both.
struct PlannedStep
{
    std::optional<Step> step;        ///< A's number (B's where A lacks it); nothing without numbers
    std::optional<std::size_t> a, b; ///< into Run::steps()
    bool hole = false;               ///< on one side only, inside the overlap of the two series
    /// Whose save is not finished: such a step is marked, and compared only if it is asked for.
    std::string unfinished = {};
};

struct StepPlan
{
    std::vector<PlannedStep> steps;            ///< rising
    std::string refusal;                       ///< not empty: the request makes no sense, and why
    bool metricsAlone = false;                 ///< a side has no checkpoints: logged numbers decide
    std::optional<StepRange> metricSteps = {}; ///< of these alone, then
    /// Common steps before the first planned one exist, and the selection left them out.
    bool earlierLeftOut = false;
    /// B's number where the selection makes unlike numbers meet (--step N:M).
    std::optional<Step> numberInB = {};
};

/// Aligns the steps of two runs by number. A run of one checkpoint meets the same step of a series
/// (its own, or the one in its name), or, without a number, the newest finished one. --step is then
/// the step of the series alone. Where a side has nothing but metrics, the plan has no steps, or
/// the one place of what both files say beside their numbers.
StepPlan planSteps(const Run &a, const Run &b, const StepSelection &selection);

} // namespace forkpoint
