// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace_comparison.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace forkpoint {

/// Rule M11 over the ranks of one iteration: a rank at a collective is a receiver if a peer's input
/// to it differs; it is no origin while the input of a member is unknown.
class CollectiveLinks
{
public:
    /// A pair of records of a rank, and how their inputs compare.
    void see(const TraceRecord &record, const EvidenceSum &inputs, std::size_t rank);
    /// Settles the first mismatches of that iteration, and forgets what was seen.
    void settle(TraceComparison &comparison, std::optional<std::int64_t> iteration);

private:
    std::map<std::uint64_t, std::set<std::size_t>> m_differing; ///< ranks, by call of a collective
};

} // namespace forkpoint
