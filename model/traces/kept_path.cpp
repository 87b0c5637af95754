// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/kept_path.h"

namespace forkpoint {

KeyPath keptPath(const TraceRecord &record, const Observation &observation, bool isInput,
                 const TraceCoordinate &rank, bool severalRanks)
{
    KeyPath path;
    if (severalRanks)
        path.keys.push_back(Key::of("rank_" + std::to_string(rank.rank.value_or(0))));
    if (!record.stage.empty())
        path.keys.push_back(Key::of(record.stage));
    if (record.microBatch)
        path.keys.push_back(Key::of("micro_batch_" + std::to_string(*record.microBatch)));
    path.keys.push_back(Key::of(record.name));
    if (record.call > 0)
        path.keys.push_back(Key::of("call_" + std::to_string(record.call)));
    const bool isOne = record.inputs.empty() && record.outputs.size() == 1;
    if (!isOne)
        path.keys.push_back(Key::of(isInput ? "input" : "output"));
    if (!observation.path.empty())
        path.keys.push_back(Key::of(observation.path));
    return path;
}

std::string firstKeptName(const TraceRecord &record, const TraceCoordinate &rank, bool severalRanks)
{
    for (const bool isInput : {false, true}) {
        for (const Observation &each : isInput ? record.inputs : record.outputs) {
            if (each.payloadOffset)
                return keptPath(record, each, isInput, rank, severalRanks).toString();
        }
    }
    return {};
}

bool isKept(const RecordRow &row)
{
    const auto side = [](const std::optional<ListedRecord> &record) {
        return record && !firstKeptName(record->record, {}, false).empty();
    };
    return side(row.a) && side(row.b);
}

} // namespace forkpoint
