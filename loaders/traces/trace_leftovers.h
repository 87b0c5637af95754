// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"
#include "model/diagnostic.h"

#include <string>
#include <vector>

namespace forkpoint {

/// A file or folder that was looked at in the search for a trace, and is no part of it.
struct TraceLeftover
{
    enum class Kind {
        Foreign,      ///< of another dialect than the trace
        Unreadable,   ///< it, its gzip stream or the folder could not be read, or is a link
        Unrecognised, ///< read, and of no dialect
        LongLine,     ///< likewise, as far as its first line was read
        NotLooked,    ///< over a limit of the search
    };
    Kind kind = Kind::Unrecognised;
    std::string name; ///< relative to what was searched; folders end with "/"
    std::string reason;
    bool isText = true;
};

/// What is said of them beside the files of the trace. A Warning where it may be a part of the trace
/// that is lost: what is of another dialect, could not be looked at, or is called as files of the
/// trace are, up to their numbers ("rank_00003.jsonl" beside "rank_00000.jsonl"). A Note for other
/// texts in folders of the trace. Nothing for the rest: a run holds more than its trace. Where there
/// is no trace at all, a Warning for what may be one and could not be looked at.
Diagnostics describeLeftovers(const std::vector<TraceLeftover> &leftovers,
                              const std::vector<TraceFile> &ofTrace);

} // namespace forkpoint
