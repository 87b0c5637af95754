// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_row.h"
#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/byte_source.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// JSON Lines: one object a line, as trainers log. The step is the whole number whose name is
/// the likeliest (stepPreference); every other number is a point of the metric of that name: members of objects and items of lists are joined by '.',
/// true and false are 1 and 0. Numbers are read to the nearest float64, so what was printed by repr
/// keeps its bits. Texts are named, and are no gap; items of long lists and numbers beyond float64
/// are one. A torn last line is a note; an object that is closed is whole without a line break.
Status readJsonlMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop);

/// A number inside a JSON object, its name dotted.
struct JsonNumber
{
    std::string name;
    DecimalText number;
    std::optional<std::int64_t> integer; ///< where it is a whole number (wholeStep), and no truth
};

/// What of a JSON text is no number that can be compared.
enum class UnreadJson {
    Text,
    Null,
    Number,   ///< beyond float64
    LongList, ///< numbers at the end of a list of more than limits::FoldedNumbers items
};

/// The numbers of a JSON text.
struct JsonNumbers
{
    std::vector<JsonNumber> numbers;
    std::vector<std::pair<UnreadJson, std::string>> unread;   ///< and the name of each
    std::vector<std::pair<std::string, std::string>> digests; ///< names and texts (isDigestText)
    RowLabel row; ///< by the members of the outermost object
    bool isObject = false;
    std::string_view refused = {}; ///< not empty: over a cap, and which; the numbers are not all
};

/// Every number of a text, true and false as 1 and 0, named by the keys and places around it joined
/// by '.' after `root`; nothing where the text is no JSON. Python's bare NaN and infinities are taken.
std::optional<JsonNumbers> jsonNumbers(std::string_view text, std::string_view root = {});

/// Tells the table of what was not read.
void leaveOutUnread(const JsonNumbers &read, MetricsTable &table);

/// A JSON text with Python's bare NaN and infinities quoted, which strict JSON has no word for.
std::string quoteNonFinite(std::string_view text);

/// Whether a first line looks like one of such a file: an object with a step.
bool isJsonlMetricsLine(std::string_view line);

} // namespace forkpoint
