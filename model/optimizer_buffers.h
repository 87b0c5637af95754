// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tensor_source.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace forkpoint {

/// Stretches of a buffer that are parameters' state, rising: first element and how many. What lies
/// between them is alignment, which Megatron-Core leaves as its memory was.
using BufferRuns = std::vector<std::pair<Index, Index>>;

/// Of each bucket of a distributed optimizer ("...bucket_idx_N.exp_avg", Megatron-Core's
/// dp_reshardable) where its parameters lie: they begin at multiples of 64, and what is behind them
/// up to the next is a chunk of its own. Only where that leaves as many elements as the checkpoint's
/// weights of that type have, and one group of ranks wrote all; otherwise nothing.
std::map<KeyPath, BufferRuns> parameterRuns(const Catalog &catalog);

/// Buckets without what lies between their parameters, by the runs that either side tells; as they
/// are where the two tell unlike ones. Nothing is read.
void dropPadding(std::shared_ptr<const TensorSource> &a, std::shared_ptr<const TensorSource> &b);

} // namespace forkpoint
