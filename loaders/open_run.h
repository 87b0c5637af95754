// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"
#include "model/run.h"

#include <filesystem>
#include <memory>

namespace forkpoint {

/// Finds out what a path is (a file, one checkpoint in a directory, a series by step) and returns
/// it as a run. Opens headers only as far as that takes; tensors' bytes are not touched.
Result<std::shared_ptr<const Run>> openRun(const std::filesystem::path &path,
                                           const OpenOptions &options, std::stop_token stop);

} // namespace forkpoint
