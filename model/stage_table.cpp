// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/stage_table.h"

#include "model/trace_stage.h"

#include <algorithm>
#include <tuple>

namespace forkpoint {

StageSummary &StageTable::of(const TraceRecord &record)
{
    const std::string stage = record.stage.empty() ? std::string(UnknownStage) : record.stage;
    const auto [place, isNew] = m_stages.try_emplace({record.iteration, stage});
    if (isNew) {
        place->second.iteration = record.iteration;
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
        of(record).evidence.add(evidence);
}

void StageTable::addOneSided(const TraceRecord &record, std::uint64_t count)
{
    of(record).oneSided += count;
}

void StageTable::addLost(const TraceRecord &record, std::uint64_t count)
{
    of(record).evidence.notComparable += count;
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
