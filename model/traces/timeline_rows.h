// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparison.h"

#include <cstddef>
#include <string>
#include <vector>

namespace forkpoint {

/// Ranks, or micro-batches, that behave alike, as one row of a timeline.
struct TimelineRow
{
    std::string name;                 ///< "ranks 0-2, 5 (receiver)", "micro-batch 3"
    std::vector<std::size_t> members; ///< into TraceComparison::ranks, or ::microBatches
    std::vector<ChainLink> links;     ///< summed, by step; `stage` is the name
};

/// Rows that are shown at most: what is left behaves unlike these, and shares the last one.
inline constexpr std::size_t MostTimelineRows = 16;

/// Alike are ranks whose first mismatch is of one class, at one step and stage, and whose records
/// have at every step the same status. In the order of their first members.
std::vector<TimelineRow> rowsOfRanks(const TraceComparison &trace);
/// Alike are micro-batches with the same status at every step.
std::vector<TimelineRow> rowsOfMicroBatches(const TraceComparison &trace);
/// The links of all rows, as a Timeline takes them.
std::vector<ChainLink> linksOf(const std::vector<TimelineRow> &rows);

} // namespace forkpoint
