// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"
#include "model/run.h"

#include <string_view>

namespace forkpoint {

/// Whether a file of that name is such a pointer.
bool isLatestPointer(std::string_view name);

/// The small files in which trainers name the newest of their saves: DeepSpeed's `latest`,
/// Megatron's `latest_checkpointed_iteration.txt`. Nothing is opened by what they say; `steps` is
/// what was found. Says where they name something else, something that is not there, or lead out of
/// the directory (Refused).
Diagnostics checkLatestPointers(const DirectoryView &view, const std::vector<RunStep> &steps);

} // namespace forkpoint
