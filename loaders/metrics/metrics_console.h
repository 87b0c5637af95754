// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/byte_source.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// What one line of a console log tells.
struct ConsoleLine
{
    std::optional<std::int64_t> step; ///< nothing where the trainer prints none (Hugging Face)
    std::vector<std::pair<std::string, DecimalText>> numbers;
};

/// A line of Megatron-LM (`iteration 1/ 12 | lm loss: 5.035616E+00 | ...`), torchtitan (`step: 1
/// loss: 5.03562 ...`, colours allowed) or the Hugging Face Trainer (a Python dict), wherever in the
/// line it begins; nothing for any other.
std::optional<ConsoleLine> parseConsoleLine(std::string_view line);

/// Every such line of a log. Numbers are as rounded as they were printed. Where lines name no step,
/// they are counted, by their epochs if these tell how many came before the first.
Status readConsoleMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop);

/// Whether such a line is among the first `bytes` of a text.
bool isConsoleMetrics(const ByteSource &source, std::uint64_t bytes);

} // namespace forkpoint
