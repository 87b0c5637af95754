// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_inquiry.h"

#include "model/traces/trace_walk.h"

namespace forkpoint {

namespace {

/// Ranks that are read once more: enough to tell an operation from a rank.
constexpr std::size_t MostRanks = 64;

const RankDivergence &firstOf(const TraceComparison &comparison)
{
    return *comparison.ranks[*comparison.firstRank].first;
}

} // namespace

TraceInquiry::TraceInquiry(const Trace &a, const Trace &b, const TracePlan &plan,
                           const TraceFilter &filter, const TraceComparison &comparison)
    : m_a(a),
      m_b(b),
      m_plan(plan),
      m_filter(filter),
      m_comparison(comparison),
      m_firstRank(*comparison.firstRank),
      m_scopes(firstOf(comparison).record),
      m_table(callFamily(firstOf(comparison).record.name))
{
    const auto iteration = firstOf(comparison).record.iteration;
    std::optional<std::size_t> own;
    for (std::size_t i = plan.units.size(); i-- > 0;) {
        if (plan.units[i].iteration != iteration)
            continue;
        if (plan.units[i].rank == m_firstRank)
            own = i;
        else
            m_units.push_back(i);
    }
    if (m_units.size() >= MostRanks)
        m_units.erase(m_units.begin(), m_units.end() - (MostRanks - 1));
    if (own)
        m_units.push_back(*own);
}

bool TraceInquiry::advance(const std::function<bool()> &stopped)
{
    if (m_units.empty())
        return false;
    const TracePlan::Unit &unit = m_plan.units[m_units.back()];
    m_units.pop_back();
    const TracePlan::Rank &rank = m_plan.ranks[unit.rank];
    const TraceCoordinate &coordinate = m_comparison.ranks[unit.rank].coordinate;
    const bool isOrigin =
        firstOf(m_comparison).classification.divergenceClass == DivergenceClass::Origin;
    TraceFeed feedA(m_a, rank.a, segmentsIn(rank.segmentsA, unit.iteration), &m_filter);
    TraceFeed feedB(m_b, rank.b, segmentsIn(rank.segmentsB, unit.ofB), &m_filter);
    TraceWalk walk(feedA, feedB, [&](const TraceWalk::Event &event) {
        if (event.opened)
            return;
        m_kernels.see(event.a, event.b);
        if (!event.a || !event.b || isArtifact(*event.a)
            || evidenceOf(*event.a, *event.b).outputsTooEarly)
            return;
        if (isOrigin)
            m_table.see(*event.a, *event.b, coordinate.rank);
        if (unit.rank == m_firstRank)
            m_scopes.see(*event.a, *event.b);
    });
    // What cannot be read was told when it was compared.
    static_cast<void>(walk.run(stopped));
    return true;
}

std::vector<Finding> TraceInquiry::findings() const
{
    std::vector<Finding> findings;
    if (auto scopes = scopeFinding(m_scopes.judgements()))
        findings.push_back(std::move(*scopes));
    for (Finding &finding : m_table.findings())
        findings.push_back(std::move(finding));
    if (auto kernels = m_kernels.finding())
        findings.push_back(std::move(*kernels));
    return findings;
}

} // namespace forkpoint
