// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

#include <cstdint>
#include <optional>

namespace forkpoint {

/// Step and rank that a dump's folders and file name say: "step3", "step=3", "iter_000012", "rank0",
/// "rank_0_activations.log", "globalrank-0". The innermost counts.
struct PathNumbers
{
    std::optional<std::int64_t> step, rank;
};

PathNumbers numbersInPath(const TraceFile &file);

} // namespace forkpoint
