// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "model/trace_record.h"

#include <map>
#include <memory>

namespace forkpoint {

/// The whole tensors that a trace kept of one iteration, as a checkpoint: named by the identity of
/// their records, in recorded order, each with its place in the step.
class KeptTensors
{
public:
    /// `severalRanks`: names begin with the rank.
    explicit KeptTensors(bool severalRanks) : m_severalRanks(severalRanks) {}

    /// Those of a record. `store` is what its observations point into.
    void add(const TraceRecord &record, const TraceCoordinate &rank,
             const std::shared_ptr<const ByteSource> &store);
    std::shared_ptr<const TensorSource> build(std::string format);

private:
    void addTensor(const Observation &observation, KeyPath path, const TraceRecord &record,
                   const TraceCoordinate &rank, const std::shared_ptr<const ByteSource> &store);
    FileIndex fileIndex(const std::shared_ptr<const ByteSource> &source);

    bool m_severalRanks;
    CheckpointBuilder m_builder;
    std::map<const ByteSource *, FileIndex> m_files;
    std::uint64_t m_order = 0;
};

} // namespace forkpoint
