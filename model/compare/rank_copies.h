// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/finding.h"

#include <vector>

namespace forkpoint {

/// What the ranks of one side hold alike and is listed once there (NAME), and by rank on the other side
/// (rank_3.NAME), as its ranks do not: which of them have what the first side has, and which have not.
/// By fingerprint, or by value. `where` is NAME, then its names by rank.
std::vector<Finding> rankCopyFindings(const CheckpointComparison &comparison);

} // namespace forkpoint
