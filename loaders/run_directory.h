// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"
#include "loaders/storage/platform_directory.h"
#include "model/run.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// One step of a series before it is opened. `name` is relative to the directory that was listed.
struct SeriesEntry
{
    Step step = 0;
    std::string name;
    bool isDirectory = false;
    bool complete = true;
    std::string unreadable = {};          ///< as RunStep::unreadable
    std::vector<std::string> rivals = {}; ///< names of other complete entries of this step
};

/// A directory as a series of checkpoints by step.
struct SeriesPlan
{
    std::string pattern;              ///< "step_#.pt"
    std::string format;               ///< of the newest complete step: "torch"; may be empty
    std::vector<SeriesEntry> entries; ///< sorted by step
    Diagnostics diagnostics;          ///< what was ignored and why
    bool complete = true;             ///< false: what was ignored may hold checkpoints
};

/// Finds the series in a listing, or nothing. Entries belong together when their names are equal
/// but for the numbers (parseStepName) and they are of one kind. Of several such groups the surest
/// word counts, then the number of entries; the others are named in diagnostics. An interrupted
/// save, and what cannot be read (an empty file, a torn archive), are listed as incomplete; only the
/// newest steps are looked at for that, back to the first complete one, and entries of one step.
/// Nothing more is looked at once `stop` was requested; the plan means nothing then.
std::optional<SeriesPlan> planSeries(const std::filesystem::path &directory,
                                     const DirectoryListing &listing, const std::string &prefix,
                                     const std::stop_token &stop);

} // namespace forkpoint
