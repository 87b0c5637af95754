// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"

namespace forkpoint {

/// A torch.save of each rank, rank_0.pt, rank_1.pt and so on (FSDP1's sharded state dictionaries,
/// trainers that save DTensors): parts of distributed tensors are joined by the offsets that they
/// carry, what all ranks hold alike is listed once, and what they do not, by rank.
const DirectoryLoader &rankFilesLoader();

} // namespace forkpoint
