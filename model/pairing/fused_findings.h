// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/finding.h"
#include "model/pairing/layout_search.h"

#include <vector>

namespace forkpoint {

/// Tensors of one side that the other holds apart (queries, keys and values; gate and up), told by
/// what their names say and seen on every byte: the same rows, in whatever order. Offered with the
/// map, never applied; what the search does not get to is left out of it, as it says.
std::vector<Finding> fusedFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                   const TensorSource &b, LayoutSearch &search);

} // namespace forkpoint
