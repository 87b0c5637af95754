// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "model/traces/trace_record.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace forkpoint {

/// The whole tensors that a trace kept of one iteration, as a checkpoint: named by the identity of
/// their records, in recorded order, each with its place in the step.
class KeptTensors
{
public:
    /// `severalRanks`: names begin with the rank.
    explicit KeptTensors(bool severalRanks) : m_severalRanks(severalRanks) {}

    using Source = Result<std::shared_ptr<const ByteSource>>;

    /// Those of a record. `store` opens what its observations point into; it is asked once for each
    /// name.
    Status add(const TraceRecord &record, const TraceCoordinate &rank,
               const std::function<Source(const std::string &payload)> &store);
    std::shared_ptr<const TensorSource> build(std::string format);

private:
    void addTensor(const Observation &observation, KeyPath path, const TraceRecord &record,
                   const TraceCoordinate &rank, FileIndex file);

    bool m_severalRanks;
    CheckpointBuilder m_builder;
    std::map<std::string, FileIndex> m_files; ///< by the name of the payload
    std::uint64_t m_order = 0;
};

} // namespace forkpoint
