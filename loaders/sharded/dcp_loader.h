// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"

namespace forkpoint {

/// PyTorch distributed checkpoints, Megatron-Core's torch_dist among them: `.metadata` and data
/// files of objects in a row, each a torch.save of its own.
const DirectoryLoader &dcpLoader();

} // namespace forkpoint
