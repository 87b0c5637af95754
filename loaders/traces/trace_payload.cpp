// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_payload.h"

#include "loaders/elements/running_digest.h"
#include "loaders/storage/file_source.h"
#include "model/bytes.h"
#include "model/dtype.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t BlockBytes = 1u << 20;

/// SHA-256 of bytes that `read(at, out)` gives.
template <class Read>
Result<std::string> digestOf(std::uint64_t bytes, const std::stop_token &stop, Read read)
{
    RunningDigest digest("sha256");
    std::vector<std::byte> block;
    for (std::uint64_t at = 0; at < bytes; at += block.size()) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        block.resize(std::size_t(std::min<std::uint64_t>(BlockBytes, bytes - at)));
        FP_CHECK(read(at, block));
        digest.update(block);
    }
    return digest.finish();
}

/// Where in the file the elements lie as they are: in order, little-endian, and not packed.
std::optional<std::uint64_t> rawOffset(const TensorRef &tensor)
{
    const bool isRaw = isContiguous(tensor) && tensor.extents.size() == 1
        && tensor.extents[0].order == ByteOrder::Little && tensor.extents[0].firstElement == 0
        && !tensor.conjugate && !tensor.negate;
    return isRaw ? std::optional(tensor.extents[0].offset) : std::nullopt;
}

Result<Observation> readPayload(const TraceFile &trace, std::shared_ptr<const FileSource> file,
                                const std::string &relative, const std::string &name)
{
    FP_TRY(auto loaded, loadFile(file, {}, trace.stop));
    const std::vector<std::shared_ptr<const ByteSource>> sources(loaded.builder.files().begin(),
                                                                 loaded.builder.files().end());
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
    if (!tensor.extents.empty() && sources[tensor.extents[0].file] == file)
        observation.payloadOffset = rawOffset(tensor);
    FP_TRY(observation.digest,
           digestOf(tensor.bytes, trace.stop, [&](std::uint64_t at, MutableByteView out) {
               return checkpoint->read(*index, at, out);
           }));
    return observation;
}

} // namespace

std::optional<Observation> PayloadDigests::find(const Key &key, const FileState &state) const
{
    const std::scoped_lock lock(m_mutex);
    const auto found = m_found.find(key);
    if (found == m_found.end() || !found->second.first.sameState(state))
        return std::nullopt;
    return found->second.second;
}

void PayloadDigests::keep(Key key, const FileState &state, const Observation &observation)
{
    const std::scoped_lock lock(m_mutex);
    if (m_found.size() < Most || m_found.count(key) > 0)
        m_found.insert_or_assign(std::move(key), std::pair(state, observation));
}

Result<Observation> observePayload(const TraceFile &trace, const std::string &relative,
                                   const std::string &name)
{
    FP_TRY(auto file, FileSource::openBeneath(trace.directory, relative, relative));
    const auto state = file->origin()->file;
    if (trace.payloads) {
        if (auto known = trace.payloads->find({relative, name}, *state))
            return *std::move(known);
    }
    FP_TRY(Observation observation, readPayload(trace, std::move(file), relative, name));
    if (trace.payloads)
        trace.payloads->keep({relative, name}, *state, observation);
    return observation;
}

std::optional<std::uint64_t> payloadBytes(const Observation &tensor)
{
    const auto dtype = dtypeByName(tensor.dtype);
    if (!dtype)
        return std::nullopt;
    std::optional<std::uint64_t> bits = dtype->positionBits();
    for (const std::uint64_t dimension : tensor.shape.value_or(std::vector<std::uint64_t>()))
        bits = bits ? checkedMul(*bits, dimension) : std::nullopt;
    return bits ? std::optional(*bits / 8 + (*bits % 8 != 0 ? 1 : 0)) : std::nullopt;
}

Result<std::string> digestOfSlice(const TraceFile &trace, const FileSource &file,
                                  std::uint64_t offset, std::uint64_t bytes)
{
    if (offset > file.size() || bytes > file.size() - offset)
        return Error{ErrorCode::Malformed, file.name(), "byte " + std::to_string(offset),
                     "must have " + std::to_string(bytes) + " bytes from here, the file has "
                         + std::to_string(file.size())};
    const PayloadDigests::Key key{file.name(),
                                  std::to_string(offset) + '+' + std::to_string(bytes)};
    const FileState state = *file.origin()->file;
    if (trace.payloads) {
        if (auto known = trace.payloads->find(key, state))
            return std::move(known->digest);
    }
    Observation slice;
    FP_TRY(slice.digest, digestOf(bytes, trace.stop, [&](std::uint64_t at, MutableByteView out) {
               return file.read(offset + at, out);
           }));
    if (trace.payloads)
        trace.payloads->keep(key, state, slice);
    return slice.digest;
}

} // namespace forkpoint
