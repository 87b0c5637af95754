// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/step_plan.h"
#include "model/traces/trace.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// Which streams of two traces meet, and in which iterations.
struct TracePlan
{
    /// Segments of a stream by iteration, in the order of the stream.
    using Segments = std::map<std::optional<std::int64_t>, std::vector<std::size_t>>;
    struct Rank
    {
        std::size_t a = 0, b = 0; ///< into Trace::streams()
        Segments segmentsA = {}, segmentsB = {};
    };
    struct Unit
    {
        std::optional<std::int64_t> iteration; ///< of A
        std::optional<std::int64_t> ofB;       ///< that it meets: the same, but with --step N:M
        std::size_t rank = 0;                  ///< into ranks
    };
    std::string refusal; ///< rule M7: not empty, and nothing is to be compared
    std::vector<Rank> ranks;
    std::vector<TraceCoordinate> onlyA, onlyB; ///< ranks of one side
    std::vector<Unit> units;                   ///< by iteration, then by rank
    /// As A numbers them; on one side only those that the selection asks for.
    std::vector<std::int64_t> iterations, iterationsOnlyA, iterationsOnlyB;
    bool hole = false; ///< an iteration of one side inside the overlap of both, or of a rank alone
    std::vector<std::pair<std::string, std::string>> recipe; ///< unlike settings: name, "a -> b"
};

/// Those of one iteration; empty where there are none.
std::vector<std::size_t> segmentsIn(const TracePlan::Segments &segments,
                                    std::optional<std::int64_t> iteration);

/// Rules M1, M7 and M8: streams meet by logical coordinate, else by rank; unlike schemas and process
/// grids are refused; what one side alone has is listed. Of `selection` the steps count: with
/// --step N:M iteration N of A meets M of B, and a side without its own is refused.
TracePlan planTraces(const Trace &a, const Trace &b, const StepSelection &selection);

} // namespace forkpoint
