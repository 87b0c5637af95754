// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/open_run.h"
#include "model/run.h"

#include <memory>
#include <optional>
#include <stop_token>

namespace forkpoint {

/// One checkpoint chosen from what a path holds.
struct ChosenCheckpoint
{
    std::shared_ptr<const Run> run;
    std::size_t index = 0; ///< into run->steps()
    std::shared_ptr<const TensorSource> source;
};

/// Opens of a run the step asked for, else the newest complete one.
Result<ChosenCheckpoint> openCheckpoint(std::shared_ptr<const Run> run, std::optional<Step> step,
                                        std::stop_token stop);

/// Opens a path and of it the step asked for, else the newest complete one.
Result<ChosenCheckpoint> openCheckpoint(const std::filesystem::path &path,
                                        const OpenOptions &options, std::optional<Step> step,
                                        std::stop_token stop);

} // namespace forkpoint
