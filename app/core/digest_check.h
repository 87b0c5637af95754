// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// Recorded digests against the tensors themselves: what a trace recorded of a weight or of the
/// optimizer's state in a step is computed once more from the checkpoint of that step, or from the
/// tensors that the trace kept, where one of that name is at hand.
struct DigestCheck
{
    std::uint64_t match = 0, mismatch = 0;
    std::uint64_t notRecomputable = 0; ///< a tensor is at hand, but that digest cannot be computed
    std::uint64_t notAtHand = 0;       ///< no tensor of that name, or not exactly one
    std::vector<std::string> mismatched; ///< names, the first few
    std::string why;                     ///< of the first that is not recomputable
};

/// Of one side and one step. At most `mostBytes` of tensors are read; what lies beyond them is not
/// recomputable. Nothing where the run has no trace, no records of state, or no tensors of the step.
std::optional<DigestCheck> checkDigests(const Run &run, Step step, std::uint64_t mostBytes,
                                        std::stop_token stop);

/// Adds what the checks of both sides say at the step shown to the findings, where any digest could
/// be computed again.
void addDigestFindings(RunComparison &comparison, const Run &a, const Run &b, std::stop_token stop);

} // namespace forkpoint
