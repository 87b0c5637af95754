// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/trace_payload.h"

#include "loaders/file_source.h"
#include "loaders/running_digest.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t BlockBytes = 1u << 20;

Result<std::string> digestOf(const Checkpoint &checkpoint, TensorIndex index)
{
    const TensorRef &tensor = checkpoint.catalog().tensors[index];
    RunningDigest digest("sha256");
    std::vector<std::byte> block;
    for (std::uint64_t at = 0; at < tensor.bytes; at += block.size()) {
        block.resize(std::size_t(std::min<std::uint64_t>(BlockBytes, tensor.bytes - at)));
        FP_CHECK(checkpoint.read(index, at, block));
        digest.update(block);
    }
    return digest.finish();
}

} // namespace

Result<Observation> observePayload(const TraceFile &trace, const std::string &relative,
                                   const std::string &name)
{
    FP_TRY(auto file, FileSource::openBeneath(trace.directory, relative, relative));
    FP_TRY(auto loaded, loadFile(std::move(file), {}, {}));
    const auto checkpoint = loaded.builder.build(loaded.format);
    const auto &tensors = checkpoint->catalog().tensors;
    std::optional<TensorIndex> index = checkpoint->catalog().findTensor(name);
    if (!index && name.empty() && tensors.size() == 1)
        index = TensorIndex(0);
    if (!index)
        return Error{ErrorCode::NotFound, relative, {}, "must hold one tensor"};
    const TensorRef &tensor = tensors[*index];
    if (tensor.unreadable)
        return *tensor.unreadable;
    Observation observation;
    observation.dtype = tensor.dtype.name;
    observation.shape.emplace();
    for (std::size_t i = 0; i < tensor.shape.rank(); ++i)
        observation.shape->push_back(std::uint64_t(tensor.shape.dims[i]));
    observation.count = tensor.elements;
    observation.kind = DigestKind::Sha256;
    observation.payload = relative;
    FP_TRY(observation.digest, digestOf(*checkpoint, *index));
    return observation;
}

} // namespace forkpoint
