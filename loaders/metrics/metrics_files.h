// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/storage/platform_directory.h"
#include "model/metrics/metric_series.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// What files of metrics say of one run.
struct FoundMetrics
{
    std::string format; ///< "tensorboard", "wandb", ...; "metrics" of tables and of several formats
    std::vector<MetricSeries> series;
    std::map<std::string, std::size_t> places; ///< in `series`, by name
    CheckpointBuilder values; ///< what the files say beside the numbers, such as a configuration
    Diagnostics diagnostics;
    bool complete = true;
    /// Not empty: files of one format log other numbers for the same step, and which.
    std::string conflict;

    bool empty() const { return series.empty(); }
};

/// Whether a file is one of metrics by its name, so that nobody takes it for a part of a checkpoint.
bool isMetricsName(const std::string &name);

/// One file that the user named; nothing where it holds no metrics. Contents decide.
std::optional<FoundMetrics> readMetricsFile(std::shared_ptr<const ByteSource> file,
                                            const std::stop_token &stop);

/// Metrics beside checkpoints: in the directory itself, in folders that loggers use, and in the
/// `trainer_state.json` of `newest`, a folder in it (empty: none). Of one metric in several files the
/// most exact counts, and files that know it alike go on from each other. Files of the relative names `others` belong to something else.
FoundMetrics findMetricsBeside(const std::filesystem::path &directory,
                               const DirectoryListing &listing, const std::string &newest,
                               const std::set<std::string> &others, const std::stop_token &stop);

/// Metrics of a directory without checkpoints: its own files, or those of the one folder below that
/// has any. Several such folders are several runs: an error that names them.
Result<FoundMetrics> findMetricsAlone(const std::filesystem::path &directory,
                                      const DirectoryListing &listing, const std::stop_token &stop);

} // namespace forkpoint
