// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/traced_folders.h"

#include <algorithm>

namespace forkpoint {

namespace fs = std::filesystem;

namespace {

/// Whether a folder holds files of the trace and nothing else that could be a checkpoint.
bool holdsTraceAlone(const fs::path &directory, const std::string &name, const TraceFiles &trace,
                     const std::set<std::string> &traced)
{
    const std::string prefix = name + "/";
    const auto first = traced.lower_bound(prefix);
    if (first == traced.end() || !first->starts_with(prefix))
        return false;
    const auto listing = listDirectory(directory / name, name);
    return listing.ok() && listing->complete
        && std::all_of(
               listing->entries.begin(), listing->entries.end(), [&](const DirectoryEntry &entry) {
                   const bool isTrace = traced.count(prefix + entry.name) > 0
                       || entry.name.ends_with(".tmp") || trace.dialect->isPayload(entry.name);
                   return entry.kind == EntryKind::File && isTrace;
               });
}

} // namespace

bool isTraced(const StepPlace &place, const fs::path &directory,
              const std::set<std::string> &traced)
{
    if (traced.empty())
        return false;
    if (place.kind != StepPlace::Kind::Directory)
        return traced.count(place.prefix + place.name) > 0;
    const std::string folder = place.directory.lexically_relative(directory).string() + "/";
    const auto first = traced.lower_bound(folder);
    return first != traced.end() && first->starts_with(folder);
}

bool holdsPayloads(const DirectoryListing &listing, const TraceFiles &trace)
{
    return trace.dialect
        && std::any_of(
               listing.entries.begin(), listing.entries.end(),
               [&](const DirectoryEntry &entry) { return trace.dialect->isPayload(entry.name); });
}

DirectoryListing withoutTrace(const fs::path &directory, DirectoryListing listing,
                              const TraceFiles &trace, const std::set<std::string> &traced)
{
    std::erase_if(listing.entries, [&](const DirectoryEntry &entry) {
        return entry.kind == EntryKind::Directory
            && holdsTraceAlone(directory, entry.name, trace, traced);
    });
    return listing;
}

} // namespace forkpoint
