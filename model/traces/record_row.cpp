// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/record_row.h"

#include "model/traces/trace_alignment.h"
#include "model/traces/trace_rules.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Copies what a list keeps of a record, while there is room.
class Shortener
{
public:
    std::string text(const std::string &whole)
    {
        std::string kept = shortened(whole.size() > m_left ? whole.substr(0, m_left) : whole);
        spend(kept.size());
        return kept;
    }

    std::vector<std::pair<std::string, std::string>>
    pairs(const std::vector<std::pair<std::string, std::string>> &all)
    {
        std::vector<std::pair<std::string, std::string>> few;
        for (const auto &[name, value] : all) {
            if (few.size() == ListedRecord::MostObservations || m_left == 0)
                break;
            spend(sizeof few[0]);
            std::string keptName = text(name);
            few.emplace_back(std::move(keptName), text(value));
        }
        return few;
    }

    std::vector<Observation> observations(const std::vector<Observation> &all)
    {
        std::vector<Observation> few;
        for (const Observation &each : all) {
            if (few.size() == ListedRecord::MostObservations || m_left == 0)
                break;
            few.push_back(observation(each));
        }
        return few;
    }

private:
    Observation observation(const Observation &whole)
    {
        Observation kept;
        kept.path = text(whole.path);
        kept.dtype = text(whole.dtype);
        if (whole.shape) {
            const auto rank = std::min(whole.shape->size(), ListedRecord::MostObservations);
            kept.shape.emplace(whole.shape->begin(), whole.shape->begin() + std::ptrdiff_t(rank));
        }
        kept.count = whole.count;
        kept.kind = whole.kind;
        kept.absence = whole.absence;
        kept.digest = text(whole.digest);
        kept.payload = text(whole.payload);
        kept.payloadOffset = whole.payloadOffset;
        kept.leaves = whole.leaves;
        kept.metadata = pairs(whole.metadata);
        kept.statistics = pairs(whole.statistics);
        spend(sizeof kept);
        return kept;
    }

    void spend(std::size_t bytes) { m_left -= std::min(bytes, m_left); }

    std::size_t m_left = ListedRecord::MostBytes;
};

} // namespace

std::string shortened(std::string text)
{
    if (text.size() > ListedRecord::MostCharacters) {
        text.resize(ListedRecord::MostCharacters);
        text += "...";
    }
    return text;
}

std::string_view toString(RecordStatus status)
{
    switch (status) {
    case RecordStatus::Equal: return "equal";
    case RecordStatus::NoneSeen: return "no difference seen";
    case RecordStatus::Different: return "different";
    case RecordStatus::Moved: return "moved";
    case RecordStatus::OnlyA: return "only in A";
    case RecordStatus::OnlyB: return "only in B";
    case RecordStatus::NotComparable: return "not comparable";
    case RecordStatus::NoValue: return "no value";
    case RecordStatus::Artifact: return "artifact";
    case RecordStatus::Open: return "partner not known yet";
    case RecordStatus::NotCompared: return "not compared";
    }
    return "no value";
}

bool isDifference(RecordStatus status)
{
    return status == RecordStatus::Different || status == RecordStatus::Moved
        || status == RecordStatus::OnlyA || status == RecordStatus::OnlyB;
}

ListedRecord listed(const TraceRecord &record)
{
    ListedRecord list;
    list.identity = identityOf(record);
    list.inputs = record.inputs.size();
    list.outputs = record.outputs.size();
    list.fields = record.fields.size();
    TraceRecord &own = list.record;
    own.iteration = record.iteration;
    own.microBatch = record.microBatch;
    own.role = record.role;
    own.call = record.call;
    own.callIsStated = record.callIsStated;
    own.sequence = record.sequence;
    own.place = record.place;
    Shortener shortener;
    own.stage = shortener.text(record.stage);
    own.name = shortener.text(record.name);
    own.key = shortener.text(record.key);
    own.group = shortener.text(record.group);
    own.scope = shortener.text(record.scope);
    own.caller = shortener.text(record.caller);
    own.outputs = shortener.observations(record.outputs);
    own.inputs = shortener.observations(record.inputs);
    own.fields = shortener.pairs(record.fields);
    return list;
}

RecordStatus statusOf(const TraceRecord *a, const TraceRecord *b, const RecordEvidence &evidence,
                      bool moved)
{
    if (isArtifact(a ? *a : *b))
        return RecordStatus::Artifact;
    if (!b)
        return RecordStatus::OnlyA;
    if (!a)
        return RecordStatus::OnlyB;
    const EvidenceSum all = evidence.all();
    if (all.evidence == Evidence::Different)
        return RecordStatus::Different;
    if (moved)
        return RecordStatus::Moved;
    if (evidence.outputsTooEarly)
        return RecordStatus::Artifact;
    switch (all.evidence) {
    case Evidence::NotComparable: return RecordStatus::NotComparable;
    case Evidence::Equal:
        return all.nothing == 0 && provesEquality(all.weakestEqual) ? RecordStatus::Equal
                                                                    : RecordStatus::NoneSeen;
    case Evidence::Different:
    case Evidence::Nothing: break;
    }
    return RecordStatus::NoValue;
}

} // namespace forkpoint
