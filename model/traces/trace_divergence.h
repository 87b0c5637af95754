// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <optional>
#include <vector>

namespace forkpoint {

/// The first divergence of two traces, as a report says it; nothing where no record differs.
std::optional<FirstDivergence> firstDivergenceIn(const TraceComparison &trace);

std::vector<RankSummary> summarizeRanks(const TraceComparison &trace);

/// What of the chain lies open between the last equal link and the divergence: stages of its step
/// that were not recorded.
std::vector<std::string> holesBefore(const std::vector<ChainLink> &chain,
                                     const FirstDivergence &divergence);

/// One mark for each iteration of either trace.
std::vector<StepMark> stepMarks(const TraceComparison &trace);

/// Of the divergence between checkpoints and that between traces the earlier in the causal chain: a
/// checkpoint holds what was there when its step had ended.
std::optional<FirstDivergence> earlier(std::optional<FirstDivergence> checkpoint,
                                       std::optional<FirstDivergence> trace);

/// Rule M22: what to record next; nothing where nothing is open. `dialect` wrote the traces.
std::optional<NextCapture> nextCapture(const TraceComparison &trace,
                                       const std::optional<FirstDivergence> &divergence,
                                       const Verdict &verdict);

} // namespace forkpoint
