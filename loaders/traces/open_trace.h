// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// Files of a directory, down to limits::DirectoryDepth, that dialects take for theirs.
struct TraceFiles
{
    const TraceDialect *dialect = nullptr;      ///< of the most files; nullptr: there is none
    std::shared_ptr<const TraceDialect> mapped; ///< keeps the dialect of a mapping sheet
    std::vector<TraceFile> files;               ///< of that dialect, sorted by name
    std::filesystem::path directory;            ///< that was looked through; empty for one file
    /// What was left out and may matter: with a dialect, a Warning means that a part of the trace may
    /// be lost; without one, why files that could have been a trace are none.
    Diagnostics diagnostics;

    std::set<std::string> names() const;
    /// Without a dialect: why files that may be a trace are none, to go on in an error's text.
    std::string whyNone() const;
};

/// Names of files below a directory that a predicate takes, up to limits::TraceFiles of them.
std::set<std::string> filesCalled(const std::filesystem::path &directory,
                                  const std::function<bool(const std::string &)> &takes);

/// Whether a file, by its first bytes, would be of a trace in that dialect, or cannot be read.
bool joinsTrace(const std::filesystem::path &directory, const std::string &name,
                const TraceDialect &dialect, const std::shared_ptr<const TraceDialect> &mapping);

/// With a mapping, the files that its sheet takes, and no others.
TraceFiles findTraceFiles(const std::filesystem::path &directory, std::stop_token stop,
                          const std::shared_ptr<const TraceDialect> &mapping = nullptr);
/// The one file that the user named, as a trace; no dialect where it is none. A mapping takes it
/// whatever it is.
TraceFiles traceFileAt(const std::filesystem::path &path, std::stop_token stop,
                       const std::shared_ptr<const TraceDialect> &mapping = nullptr);

/// Reads all records once and keeps where they are: streams by rank, segments by iteration.
Result<std::shared_ptr<const Trace>> indexTrace(TraceFiles files, std::stop_token stop);

} // namespace forkpoint
