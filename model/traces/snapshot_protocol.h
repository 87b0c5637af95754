// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"

#include <map>
#include <string>
#include <vector>

namespace forkpoint {

// Rules for snapshots of training state (megatron_training_state_v1): what their index says of run,
// process and source decides what an equal comparison may be called. It never decides whether bytes
// are equal, so all of this is findings.

/// Rule M31. Two runs are independent if every rank names another process on either side. A side
/// that resumed must name the other's run and the hash of its checkpoint. A source that was changed
/// beyond its revision is shown and certifies nothing.
std::vector<Finding> snapshotIndependence(const CheckpointComparison &comparison);

/// Rule M32: SHA-256 by file, as a run recorded its checkpoint and as another says what it loaded,
/// or as the files are now. One clause for each that changed, is missing or came in addition;
/// empty where all are the same.
std::vector<std::string> shardProblems(const std::map<std::string, std::string> &recorded,
                                       const std::map<std::string, std::string> &found);

/// Rule M33: which components were declared on both sides and compared, and that nothing is said of
/// any other state.
Finding snapshotScope(const CheckpointComparison &comparison);

} // namespace forkpoint
