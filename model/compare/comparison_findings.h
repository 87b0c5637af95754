// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/tensor_source.h"

#include <stop_token>

namespace forkpoint {

/// What the rows tell beyond themselves, by exact tests only: recipe differences, pairings that are
/// not by name, one-sided tensors whose bytes the other side has under another name, tensors that
/// equal the other side's rounded to a narrower type, differences of one rank alone, and what each file
/// alone tells. `rounded` are the positions of rows whose narrower side is the other one rounded. Sorted by severity, then
/// id; a rerun gives the same list.
std::vector<Finding> comparisonFindings(const CheckpointComparison &comparison,
                                        const TensorSource &a, const TensorSource &b,
                                        const Pairing &pairing,
                                        const std::vector<std::size_t> &rounded, bool mayRead,
                                        std::stop_token stop);

} // namespace forkpoint
