// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/opened_run.h"
#include "loaders/storage/platform_directory.h"
#include "loaders/traces/open_trace.h"

#include <filesystem>
#include <set>
#include <string>

namespace forkpoint {

// What of a directory is its trace and therefore no checkpoint. `traced`: the names of the trace's files,
// relative to the directory (TraceFiles::names()).

/// Whether a step is a file of the trace or a folder with its files.
bool isTraced(const StepPlace &place, const std::filesystem::path &directory,
              const std::set<std::string> &traced);

/// Whether tensors of a trace's records lie among its files: then no checkpoint is sought there.
bool holdsPayloads(const DirectoryListing &listing, const TraceFiles &trace);

/// What a directory has beside the folders that hold files of its trace and nothing else.
DirectoryListing withoutTrace(const std::filesystem::path &directory, DirectoryListing listing,
                              const TraceFiles &trace, const std::set<std::string> &traced);

} // namespace forkpoint
