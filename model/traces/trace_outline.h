// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// What can be listed of one trace: by rank, by iteration.
struct TraceOutline
{
    std::vector<TraceCoordinate> ranks;   ///< as Trace::streams()
    std::vector<std::int64_t> iterations; ///< of any rank, rising
    std::uint64_t records = 0;
};

TraceOutline outlineOf(const Trace &trace);

} // namespace forkpoint
