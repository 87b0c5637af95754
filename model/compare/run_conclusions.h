// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

namespace forkpoint {

/// What only all evidence on two runs together says, as findings: what is ruled out (rule M28), the
/// first differing bit against the first visible digit, and, of snapshots of training state, what
/// their comparison may be called (M31 to M33). After metrics, traces and checkpoints were joined.
std::vector<Finding> runConclusions(const RunComparison &comparison);

} // namespace forkpoint
