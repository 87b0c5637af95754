// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// One run of several: the first two are A and B, which the verdict is about.
struct RunArm
{
    std::string path;
    bool isControl = false; ///< it must differ from A; else a repeat of A, which must not
};

/// What a comparison of two of them said; indices into the arms.
struct ArmPair
{
    std::size_t a = 0, b = 0;
    Outcome outcome = Outcome::NotCompared;
    std::optional<FirstDivergence> first;
};

/// Rules M25 and M26 over all pairs: the matrix, a first divergence that all differing pairs share,
/// the floor of noise that repeats of A show, and whether the controls were seen to differ.
std::vector<Finding> armFindings(const std::vector<RunArm> &arms,
                                 const std::vector<ArmPair> &pairs);

} // namespace forkpoint
