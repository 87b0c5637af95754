// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/finding.h"
#include "model/tensor_source.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// Tensors that differ and hold the same values in another layout, seen on every byte: rows or columns
/// in another order (queries, keys and values by head or in blocks, gate and up over shards, halves of
/// rotary embeddings), transposed, rows added for padding, experts or layers stacked. Offered with the
/// map, never applied. At most `budget` bytes are read; for which tensors the search came to no end is
/// a finding too.
std::vector<Finding> layoutFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                    const TensorSource &b, std::uint64_t budget,
                                    std::stop_token stop);

} // namespace forkpoint
