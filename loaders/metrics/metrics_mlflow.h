// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/platform_directory.h"

#include <filesystem>
#include <stop_token>

namespace forkpoint {

/// One run of MLflow's file store (`mlruns/EXPERIMENT/RUN`): each file below `metrics/` is a metric
/// of lines "timestamp value step", `params/` and `tags/` hold values, `params.*` and `tags.*`.
Status readMlflowRun(const std::filesystem::path &directory, const std::string &prefix,
                     MetricsTable &table, CheckpointBuilder &values, std::stop_token stop);

bool isMlflowRun(const DirectoryListing &listing);

} // namespace forkpoint
