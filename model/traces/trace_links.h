// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/group_layout.h"
#include "model/traces/trace_comparison.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace forkpoint {

/// Rule M11 over the ranks of one iteration: a rank at a collective is a receiver if a peer's input
/// to it differs; it is no origin while the input of a member is unknown.
class CollectiveLinks
{
public:
    /// As gridSizesOf() gives them.
    void takeGrid(std::map<std::string, std::uint64_t> sizes) { m_sizes = std::move(sizes); }
    std::optional<std::uint64_t> worldSize() const;
    /// A pair of records of a rank, which has that coordinate, and how their inputs compare.
    void see(const TraceRecord &record, const EvidenceSum &inputs, std::size_t rank,
             const TraceCoordinate &coordinate);
    /// Settles the first mismatches of that iteration, and forgets what was seen.
    void settle(TraceComparison &comparison, std::optional<std::int64_t> iteration);

private:
    using Tie = GroupLayout::Tie;

    void seeMember(const TraceRecord &record, const std::string &key, std::int64_t rank);
    Tie tieOf(const RankComparison &rank, const RankComparison &peer) const;
    bool isWhole(const TraceComparison &comparison, const RankComparison &rank) const;
    void linkToPeers(TraceComparison &comparison, std::size_t rank,
                     const std::set<std::size_t> &differing) const;
    /// As the records of its first mismatch state it; null where they do not.
    const GroupLayout *layoutOf(const RankComparison &rank) const;

    std::map<std::string, std::uint64_t> m_sizes;
    std::map<std::uint64_t, std::set<std::size_t>> m_differing; ///< ranks, by call of a collective
    std::map<std::uint64_t, GroupLayout> m_layouts;             ///< by collective
    std::size_t m_members = 0;                                  ///< that were added to them
};

} // namespace forkpoint
