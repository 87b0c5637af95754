// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_outline.h"

#include <set>

namespace forkpoint {

TraceOutline outlineOf(const Trace &trace)
{
    TraceOutline outline;
    std::set<std::int64_t> iterations;
    for (const TraceStream &stream : trace.streams()) {
        outline.ranks.push_back(stream.coordinate);
        for (const TraceSegment &segment : stream.segments) {
            outline.records += segment.records;
            if (segment.iteration)
                iterations.insert(*segment.iteration);
        }
    }
    outline.iterations.assign(iterations.begin(), iterations.end());
    return outline;
}

} // namespace forkpoint
