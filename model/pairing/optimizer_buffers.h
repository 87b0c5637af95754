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
/// up to the next are chunks of their own. Where a rank's share ends within a parameter, a part of it
/// can look the same; so what is left out must be, stretch by stretch, what the sizes of the
/// checkpoint's weights of that type leave (model/pairing/parameter_sizes.h), and the rest must have as many
/// elements as they. Stretches that begin where the share of a known rank ends are padding only if
/// the weights ask for all of that length. Nothing where a doubt is left.
std::map<KeyPath, BufferRuns> parameterRuns(const Catalog &catalog);

/// Buckets without what lies between their parameters, where both sides tell the same runs, or one
/// has no chunks (a buffer that one process gathered) and the sizes of its own weights say the same;
/// otherwise as they are, and so is a bucket without padding or with recorded digests. `storedA` and
/// `storedB` are the two sides as their files have them. Nothing is read.
void dropPadding(std::shared_ptr<const TensorSource> &a, std::shared_ptr<const TensorSource> &b,
                 const Catalog &storedA, const Catalog &storedB);

} // namespace forkpoint
