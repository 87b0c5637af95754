// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// Which streams of two traces meet, and in which iterations.
struct TracePlan
{
    struct Rank
    {
        std::size_t a = 0, b = 0; ///< into Trace::streams()
    };
    struct Unit
    {
        std::optional<std::int64_t> iteration;
        std::size_t rank = 0; ///< into ranks
    };
    std::string refusal; ///< rule M7: not empty, and nothing is to be compared
    std::vector<Rank> ranks;
    std::vector<TraceCoordinate> onlyA, onlyB; ///< ranks of one side
    std::vector<Unit> units;                   ///< by iteration, then by rank
    std::vector<std::int64_t> iterations, iterationsOnlyA, iterationsOnlyB;
    bool hole = false; ///< an iteration of one side inside the overlap of both, or of a rank alone
    std::vector<std::pair<std::string, std::string>> recipe; ///< unlike settings: name, "a -> b"
};

/// Rules M1, M7 and M8: streams meet by logical coordinate, else by rank; unlike schemas and process
/// grids are refused; what one side alone has is listed.
TracePlan planTraces(const Trace &a, const Trace &b,
                     const std::optional<std::pair<std::int64_t, std::int64_t>> &iterations);

} // namespace forkpoint
