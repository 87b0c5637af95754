// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/compare/comparison.h"
#include "model/compare/finding.h"

#include <set>
#include <string>
#include <vector>

namespace forkpoint {

/// What the ranks of one side hold alike and is listed once there (NAME), and by rank on the other side
/// (rank_3.NAME, or GROUP.rank_3.NAME), as its ranks do not: which of them have what the first side has, and which have not.
/// By fingerprint, or by value. `where` is NAME, then its names by rank. Where the first side is
/// incomplete it speaks for the ranks that are there, and is no proof that the sides differ.
std::vector<Finding> rankCopyFindings(const CheckpointComparison &comparison, const Catalog &a,
                                      const Catalog &b);

/// Names of those that prove that the sides differ, whatever the other side may have lost.
std::set<std::string> provenUnlikeRanks(const std::vector<Finding> &findings);

} // namespace forkpoint
