// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/byte_source.h"
#include "loaders/metrics_table.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// JSON Lines: one object a line, as trainers log. The step is the first integer member named
/// "step", "global_step", "iteration", "iter", "_step" or "trainer/global_step"; every other number
/// is a point of the metric of that name. Numbers are read to the nearest float64, so what was
/// printed by repr keeps its bits. A torn last line is a note.
Status readJsonlMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop);

/// A number inside a JSON object, its name dotted.
struct JsonNumber
{
    std::string name;
    DecimalText number;
    std::optional<std::int64_t> integer;
};

/// Every number of an object outside of lists, nested objects joined by '.'; nothing where the text
/// is no object. Python's bare NaN and infinities are taken.
std::optional<std::vector<JsonNumber>> jsonNumbers(std::string_view object);

/// A JSON text with Python's bare NaN and infinities quoted, which strict JSON has no word for.
std::string quoteNonFinite(std::string_view text);

/// Whether a first line looks like one of such a file: an object with a step.
bool isJsonlMetricsLine(std::string_view line);

} // namespace forkpoint
