// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"

namespace forkpoint {

/// Megatron's training state snapshots (megatron_training_state_v1): in each step's folder an index
/// rank-######.json and the raw bytes rank-######.bin. Items of several ranks are prefixed by the
/// rank's file.
const DirectoryLoader &stateSnapshotLoader();

} // namespace forkpoint
