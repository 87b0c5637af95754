// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/limits.h"

#include <stop_token>
#include <vector>

namespace forkpoint {

/// Reads the copies that several ranks hold of one part of a tensor and adds a finding,
/// "replicas-differ", for each tensor whose copies are not equal, with the ranks grouped by what they
/// hold. Reads `mostBytes` at most; the copies that are left are compared whenever their tensor is read
/// (CheckpointBuilder::compareCopiesOf), and a note says of how many.
void checkReplicas(CheckpointBuilder &builder, std::stop_token stop,
                   std::uint64_t mostBytes = limits::ReplicaBytes);

/// The same of tensors that the builder does not list: each with the extents of one copy, in the
/// builder's files, and the others as its replicas. Of those that are left a note alone tells: they are
/// listed, and read, as what they are.
void checkReplicas(const std::vector<TensorRef> &tensors, CheckpointBuilder &builder,
                   std::stop_token stop);

} // namespace forkpoint
