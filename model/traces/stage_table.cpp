// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/stage_table.h"

#include "model/traces/trace_stage.h"

#include <algorithm>
#include <tuple>

namespace forkpoint {

StageSummary &StageTable::of(std::optional<std::int64_t> iteration, const std::string &named)
{
    const std::string stage = named.empty() ? std::string(UnknownStage) : named;
    const auto [place, isNew] = m_stages.try_emplace({iteration, stage});
    if (isNew) {
        place->second.iteration = iteration;
        place->second.stage = stage;
        place->second.order = m_stages.size();
    }
    return place->second;
}

void StageTable::add(const TraceRecord &record, const EvidenceSum &evidence)
{
    const bool isMark = record.stage.empty() || record.role == RecordRole::Runtime
        || record.role == RecordRole::Phase || record.role == RecordRole::IterationBegin;
    const bool saysNothing =
        evidence.compared == 0 && evidence.nothing == 0 && evidence.notComparable == 0;
    if (!isMark || !saysNothing)
        of(record.iteration, record.stage).evidence.add(evidence);
}

void StageTable::addOneSided(const RecordName &record, std::uint64_t count)
{
    of(record.iteration, record.stage).oneSided += count;
}

void StageTable::addLost(const RecordName &record, std::uint64_t count)
{
    of(record.iteration, record.stage).evidence.notComparable += count;
}

void StageTable::addUnread(std::optional<std::int64_t> iteration)
{
    auto each = m_stages.lower_bound({iteration, std::string()});
    if (each == m_stages.end() || each->first.first != iteration)
        ++of(iteration, {}).evidence.notComparable;
    for (; each != m_stages.end() && each->first.first == iteration; ++each)
        ++each->second.evidence.notComparable;
}

std::vector<StageSummary> StageTable::take()
{
    std::vector<StageSummary> list;
    for (auto &[key, stage] : m_stages)
        list.push_back(std::move(stage));
    m_stages.clear();
    std::stable_sort(list.begin(), list.end(), [](const StageSummary &x, const StageSummary &y) {
        return std::tuple(x.iteration, causalPlace(x.stage), x.order)
            < std::tuple(y.iteration, causalPlace(y.stage), y.order);
    });
    return list;
}

} // namespace forkpoint
