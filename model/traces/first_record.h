// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparison.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// Rules M3 and M8: whether of two differences of one rank and iteration `x` is the first. A rank that
/// tells its order decides by it, by place in the walk; else the chain does, as far as it knows both.
bool comesBefore(const RankDivergence &x, std::uint64_t ordinalOfX, const RankDivergence &y,
                 std::uint64_t ordinalOfY);

/// Of a rank that does not tell its order: what else differs there and is not known to come behind the
/// first. `differing`: by place in the chain, the records of no place at the end of the step.
void findRivals(RankDivergence &first, const std::map<ChainPlace, Rivals> &differing);

/// Ranks whose first mismatch lies in the earliest iteration, by class. A record that may have been
/// lost counts only where no rank has a difference.
std::vector<std::size_t> ranksOfFirst(const TraceComparison &comparison,
                                      std::optional<DivergenceClass> only);

/// Whose first divergence is shown: of the earliest iteration an origin, else the one that stands first
/// in the causal chain of the step, else the lowest rank (rules M8, M10).
std::optional<std::size_t> chooseFirst(const TraceComparison &comparison);

/// What may be the first beside the one shown: of its rank, and of ranks of which the chain does not say
/// that they part later; "it is one of 3 records that differ and of which the order is not known: loss on
/// rank 1, ...". Empty where it is the first, and beside an origin, which nothing before it explains.
std::string rivalWords(const TraceComparison &comparison);

} // namespace forkpoint
