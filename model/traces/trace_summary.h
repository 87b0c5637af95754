// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparison.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// What a trace says of its process grid: the number of ranks of its job ("world_size"), and of those
/// along each axis.
std::map<std::string, std::uint64_t> gridSizesOf(const Trace &trace);

/// What all ranks together say (M10), order and slips (M5, M6), artifacts (M14), metadata (M17),
/// coverage (M19), recipe differences.
void addTraceFindings(TraceComparison &comparison,
                      const std::vector<std::pair<std::string, std::string>> &recipe);

} // namespace forkpoint
