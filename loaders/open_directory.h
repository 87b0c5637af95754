// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/opened_run.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>

namespace forkpoint {

/// Fills a run from a directory: a series of checkpoints, one checkpoint of many files, a trace, logs, or
/// the one folder below that holds them. NotFound says what is there instead.
Result<std::shared_ptr<const Run>> openDirectory(const std::filesystem::path &path,
                                                 std::shared_ptr<OpenedRun> run,
                                                 const std::stop_token &stop);

/// The number that the last part of a path says with a word for steps; a bare one may count anything.
std::optional<Step> stepInName(const std::filesystem::path &path);

} // namespace forkpoint
