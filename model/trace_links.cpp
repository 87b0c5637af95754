// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace_links.h"

#include "model/trace_alignment.h"

namespace forkpoint {

namespace {

/// Calls of collectives whose inputs differ that are remembered.
constexpr std::size_t MostCollectives = 100'000;

/// `differing`: ranks whose input to the collective of that rank's first mismatch differs.
void linkToPeers(TraceComparison &comparison, std::size_t rank,
                 const std::set<std::size_t> &differing)
{
    RankDivergence &first = *comparison.ranks[rank].first;
    const bool isCollective =
        first.role == RecordRole::Collective || first.role == RecordRole::CollectiveEnd;
    Classification &found = first.classification;
    if (!isCollective || found.divergenceClass == DivergenceClass::Receiver)
        return;
    for (const std::size_t peer : differing) {
        if (peer == rank
            || !areGroupPeers(comparison.ranks[rank].coordinate, comparison.ranks[peer].coordinate,
                              first.group))
            continue;
        found.divergenceClass = DivergenceClass::Receiver;
        found.innocentCollective = true;
        found.why = "its own inputs are equal, but those of "
            + comparison.ranks[peer].coordinate.toText()
            + " to the same collective differ: the collective is innocent";
        found.probe.clear();
        return;
    }
    const auto worldSize = comparison.coverage.worldSize;
    if (found.divergenceClass == DivergenceClass::Origin
        && (!worldSize || *worldSize > comparison.ranks.size())) {
        found.divergenceClass = DivergenceClass::Unclassified;
        found.why = "its own inputs are equal, but not every rank of the job was compared, and a "
                    "peer's input may differ";
        found.probe = "trace all ranks of the group";
    }
}

} // namespace

void CollectiveLinks::see(const TraceRecord &record, const EvidenceSum &inputs, std::size_t rank)
{
    const bool isCollective =
        record.role == RecordRole::Collective || record.role == RecordRole::CollectiveBegin;
    if (!isCollective || inputs.evidence != Evidence::Different
        || m_differing.size() >= MostCollectives)
        return;
    const std::string &key = record.role == RecordRole::CollectiveBegin ? record.group : record.key;
    m_differing[identityOf(key, record.call)].insert(rank);
}

void CollectiveLinks::settle(TraceComparison &comparison, std::optional<std::int64_t> iteration)
{
    for (std::size_t rank = 0; rank < comparison.ranks.size(); ++rank) {
        const RankComparison &own = comparison.ranks[rank];
        if (!own.first || own.first->record.iteration != iteration
            || own.first->kind != DivergenceKind::Value)
            continue;
        const RankDivergence &first = *own.first;
        const std::string &key = first.role == RecordRole::Collective ? first.key : first.group;
        const auto found = m_differing.find(identityOf(key, first.record.call));
        linkToPeers(comparison, rank,
                    found == m_differing.end() ? std::set<std::size_t>() : found->second);
    }
    m_differing.clear();
}

} // namespace forkpoint
