// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/byte_source.h"
#include "loaders/metrics_table.h"

#include <stop_token>

namespace forkpoint {

/// JSON Lines: one object a line, as trainers log. The step is the first integer member named
/// "step", "global_step", "iteration", "iter", "_step" or "trainer/global_step"; every other number
/// is a point of the metric of that name, members of nested objects joined by '.'. NaN, Infinity
/// and -Infinity (Python's json writes them bare) are numbers too. Numbers are read to the nearest
/// float64, so what was printed by repr keeps its bits. A torn last line is a note.
Status readJsonlMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop);

/// Whether a first line looks like one of such a file: an object with a step.
bool isJsonlMetricsLine(std::string_view line);

} // namespace forkpoint
