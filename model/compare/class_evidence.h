// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/traces/causal_chain.h"

#include <map>
#include <optional>
#include <vector>

namespace forkpoint {

struct RunComparison;

/// What the causal chain says of each class of state: the links of its stages as one, the first of
/// them naming the stage. Of the step where the runs part, where one is known, else of all steps.
/// Classes of which nothing was recorded, or equal numbers of a log alone, are not there; neither is Unknown, which is no state.
std::map<StateClass, ChainLink> classEvidence(const RunComparison &comparison);

/// What is known of one class: at least one of both is there.
struct ClassLine
{
    StateClass stateClass = StateClass::Unknown;
    std::optional<ChainLink> recorded; ///< counts values of the causal chain; only of traces
    std::optional<ClassSummary> items; ///< counts tensors and values of the step shown
    bool isByItems = false; ///< these decide what is said of the class, else what was recorded
};

/// The truth table of window and report alike, in the order of allStateClasses(). Tensors that traces
/// kept are a part of what their records say; checkpoints beside them may show more than these.
std::vector<ClassLine> classLines(const RunComparison &comparison,
                                  const CheckpointComparison &shown);

} // namespace forkpoint
