// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/tensor_source.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// What one side of a differing tensor is of the other, in every element and bit for bit: rounded to a
/// narrower type, or cut to it, and kept in its own ("rounded-in-place"); the other times a power of two
/// ("times-power-of-two") or with every sign changed ("negated"); zero throughout ("all-zero"); or,
/// where no other tensor differs, the same but for one bit ("one-bit"). Such tests are exact: what they find "is" so.
///
/// Pairs of one float type of 16, 32 or 64 bits and one shape, by what was measured of them; what that does
/// not rule out is read again, at most `budget` bytes of both sides in all, up to the first element that is
/// not so. One finding for each relation, in the order of the rows; a rerun gives the same list.
std::vector<Finding> exactRelations(const CheckpointComparison &comparison, const TensorSource &a,
                                    const TensorSource &b, std::uint64_t budget,
                                    std::stop_token stop);

} // namespace forkpoint
