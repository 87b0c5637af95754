// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/diagnostic.h"
#include "model/traces/trace_record.h"

#include <cstdint>
#include <string>
#include <vector>

namespace forkpoint {

/// What a file says of its place among the files of a rank.
struct TracePart
{
    std::string file; ///< as errors name it
    TraceCoordinate coordinate;
    std::string run;    ///< whose: files of one rank with unlike ones do not belong together
    bool isEnd = false; ///< the end marker; else a segment
    std::uint64_t records = 0, tensors = 0, values = 0; ///< of an end marker: of all segments
    // Of a segment.
    std::uint64_t number = 0; ///< from 0, in the order of writing
    std::int64_t firstStep = 0, lastStep = 0;
    // Of an end marker.
    std::uint64_t segments = 0;
    std::string reason; ///< "complete", or why the recording ended
    std::uint64_t payloadLeftOut = 0;
};

struct TraceWholeness
{
    /// A warning or an error is damage; a note is not (no end marker: the run may be going on).
    Diagnostics diagnostics;
    bool complete = true;
};

/// Rule M20 over the files of all ranks: every segment is there once, no step is in two, and the
/// counts are those of the end marker.
TraceWholeness checkWholeness(std::vector<TracePart> parts);

} // namespace forkpoint
