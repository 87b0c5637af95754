// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_links.h"

#include "model/traces/trace_alignment.h"

#include <algorithm>
#include <charconv>

namespace forkpoint {

namespace {

/// Calls of collectives whose inputs differ that are remembered.
constexpr std::size_t MostCollectives = 100'000;
/// What collectives say of the groups of ranks that is remembered; without it a group is not whole.
constexpr std::size_t MostMembers = 1'000'000;

/// Both halves of a collective have one group, a whole collective its own key.
const std::string &collectiveKey(RecordRole role, const std::string &key, const std::string &group)
{
    return role == RecordRole::Collective ? key : group;
}

std::optional<std::uint64_t> numberIn(const TraceRecord &record, std::string_view name)
{
    for (const auto &[field, value] : record.fields) {
        std::uint64_t number = 0;
        const char *const end = value.data() + value.size();
        if (field == name) {
            const auto [stop, error] = std::from_chars(value.data(), end, number);
            return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
        }
    }
    return std::nullopt;
}

void leaveOpen(Classification &found, std::string why)
{
    found.divergenceClass = DivergenceClass::Unclassified;
    found.why = "its own inputs are equal, but " + std::move(why);
    found.probe = "trace all ranks of the group";
}

} // namespace

std::optional<std::uint64_t> CollectiveLinks::worldSize() const
{
    const auto found = m_sizes.find("world_size");
    return found == m_sizes.end() ? std::nullopt : std::optional(found->second);
}

void CollectiveLinks::seeMember(const TraceRecord &record, const std::string &key,
                                std::int64_t rank)
{
    const auto size = numberIn(record, "group_size"), number = numberIn(record, "group_rank");
    if (!size || !number || m_members >= MostMembers)
        return;
    ++m_members;
    m_layouts[identityOf(key, 0)].add(rank, *size, *number);
}

void CollectiveLinks::see(const TraceRecord &record, const EvidenceSum &inputs, std::size_t rank,
                          const TraceCoordinate &coordinate)
{
    if (record.role != RecordRole::Collective && record.role != RecordRole::CollectiveBegin)
        return;
    const std::string &key = collectiveKey(record.role, record.key, record.group);
    if (coordinate.rank)
        seeMember(record, key, *coordinate.rank);
    if (inputs.evidence == Evidence::Different && m_differing.size() < MostCollectives)
        m_differing[identityOf(key, record.call)].insert(rank);
}

const GroupLayout *CollectiveLinks::layoutOf(const RankComparison &rank) const
{
    const RankDivergence &first = *rank.first;
    const auto stated =
        m_layouts.find(identityOf(collectiveKey(first.role, first.key, first.group), 0));
    return stated == m_layouts.end() || !rank.coordinate.rank ? nullptr : &stated->second;
}

GroupLayout::Tie CollectiveLinks::tieOf(const RankComparison &rank,
                                        const RankComparison &peer) const
{
    if (const GroupLayout *layout = layoutOf(rank))
        return peer.coordinate.rank ? layout->tie(*rank.coordinate.rank, *peer.coordinate.rank)
                                    : Tie::Open;
    return areGroupPeers(rank.coordinate, peer.coordinate, rank.first->group) ? Tie::Joined
                                                                              : Tie::Apart;
}

/// Whether every member of the group at the rank's first mismatch was compared.
bool CollectiveLinks::isWhole(const TraceComparison &comparison, const RankComparison &rank) const
{
    const auto world = worldSize();
    if (world && *world <= comparison.ranks.size())
        return true;
    if (const GroupLayout *layout = layoutOf(rank))
        return m_members < MostMembers && layout->isWhole(*rank.coordinate.rank);
    const auto axes = groupAxes(rank.coordinate, rank.first->group);
    std::uint64_t size = axes.empty() ? 0 : 1;
    for (const std::string_view axis : axes) {
        const auto stated = m_sizes.find(std::string(axis));
        size *= stated == m_sizes.end() ? 0 : stated->second;
    }
    const auto members = std::count_if(
        comparison.ranks.begin(), comparison.ranks.end(), [&](const RankComparison &peer) {
            return areGroupPeers(rank.coordinate, peer.coordinate, rank.first->group);
        });
    return size > 0 && std::uint64_t(members) >= size;
}

void CollectiveLinks::linkToPeers(TraceComparison &comparison, std::size_t rank,
                                  const std::set<std::size_t> &differing) const
{
    RankDivergence &first = *comparison.ranks[rank].first;
    const bool isCollective =
        first.role == RecordRole::Collective || first.role == RecordRole::CollectiveEnd;
    Classification &found = first.classification;
    if (!isCollective || found.divergenceClass == DivergenceClass::Receiver)
        return;
    std::string open;
    for (const std::size_t peer : differing) {
        const Tie tie =
            peer == rank ? Tie::Apart : tieOf(comparison.ranks[rank], comparison.ranks[peer]);
        const std::string name = comparison.ranks[peer].coordinate.toText();
        if (tie == Tie::Open && open.empty())
            open = name;
        if (tie != Tie::Joined)
            continue;
        found.divergenceClass = DivergenceClass::Receiver;
        found.innocentCollective = true;
        found.why = "its own inputs are equal, but those of " + name
            + " to the same collective differ: the collective is innocent";
        found.probe.clear();
        return;
    }
    if (found.divergenceClass != DivergenceClass::Origin)
        return;
    if (!open.empty())
        leaveOpen(
            found,
            "those of " + open
                + " to a collective of that name differ, and whether the two are in one group "
                  "is not known");
    else if (!isWhole(comparison, comparison.ranks[rank]))
        leaveOpen(found,
                  "not every rank of its group is known to be compared, and a peer's input "
                  "may differ");
}

void CollectiveLinks::settle(TraceComparison &comparison, std::optional<std::int64_t> iteration)
{
    for (std::size_t rank = 0; rank < comparison.ranks.size(); ++rank) {
        const RankComparison &own = comparison.ranks[rank];
        if (!own.first || own.first->record.iteration != iteration
            || own.first->kind != DivergenceKind::Value)
            continue;
        const RankDivergence &first = *own.first;
        const std::string &key = collectiveKey(first.role, first.key, first.group);
        const auto found = m_differing.find(identityOf(key, first.record.call));
        linkToPeers(comparison, rank,
                    found == m_differing.end() ? std::set<std::size_t>() : found->second);
    }
    m_differing.clear();
    m_layouts.clear();
    m_members = 0;
}

} // namespace forkpoint
