// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/finding.h"
#include "model/pairing/layout_search.h"

#include <vector>

namespace forkpoint {

/// Tensors of one side that the other has as one, along a first axis of their own: experts or
/// layers, told by their numbers in names and seen on every byte. What the search does not get to is
/// left out of it, as it says.
std::vector<Finding> stackFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                   const TensorSource &b, LayoutSearch &search);

} // namespace forkpoint
