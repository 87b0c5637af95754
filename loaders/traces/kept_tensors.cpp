// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/kept_tensors.h"

#include "loaders/traces/trace_payload.h"
#include "model/traces/kept_path.h"
#include "model/traces/trace_stage.h"

namespace forkpoint {

Status KeptTensors::add(const TraceRecord &record, const TraceCoordinate &rank,
                        const std::function<Source(const std::string &)> &store)
{
    for (const bool isInput : {true, false}) {
        for (const Observation &observation : isInput ? record.inputs : record.outputs) {
            if (!observation.payloadOffset)
                continue;
            auto file = m_files.find(observation.payload);
            if (file == m_files.end()) {
                FP_TRY(auto source, store(observation.payload));
                file = m_files.emplace(observation.payload, m_builder.addFile(std::move(source)))
                           .first;
            }
            addTensor(observation, keptPath(record, observation, isInput, rank, m_severalRanks),
                      record, rank, file->second);
        }
    }
    return {};
}

void KeptTensors::addTensor(const Observation &observation, KeyPath path, const TraceRecord &record,
                            const TraceCoordinate &rank, FileIndex file)
{
    TensorRef tensor;
    tensor.path = std::move(path);
    tensor.stateClass = stateClassOfStage(record.stage);
    tensor.executionOrder = m_order++;
    tensor.recorded = std::make_shared<const RecordedPlace>(
        RecordedPlace{record.stage, record.microBatch, rank.rank});
    tensor.storage = m_builder.newStorage();
    tensor.files = {observation.payload};
    if (observation.shape)
        tensor.shape.dims = *observation.shape;
    const auto dtype = dtypeByName(observation.dtype);
    tensor.dtype = dtype.value_or(opaqueDType(1));
    const auto bytes = payloadBytes(observation);
    if (!dtype || !bytes) {
        m_builder.addUnreadable(std::move(tensor),
                                {ErrorCode::Unsupported,
                                 {},
                                 {},
                                 "'" + observation.dtype + "' is no element type that is known"});
        return;
    }
    Extent extent;
    extent.file = file;
    extent.offset = *observation.payloadOffset;
    extent.length = *bytes;
    extent.box = {std::vector<Index>(tensor.shape.rank(), 0), tensor.shape.dims};
    extent.strides = tensor.shape.rowMajorStrides();
    if (extent.length > 0)
        tensor.extents = {std::move(extent)};
    m_builder.addTensor(std::move(tensor));
}

std::shared_ptr<const TensorSource> KeptTensors::build(std::string format)
{
    return m_builder.build(std::move(format));
}

} // namespace forkpoint
