// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/tensor_digests.h"

#include "loaders/elements/tensor_digest.h"

#include <algorithm>
#include <mutex>

namespace forkpoint {

namespace {

constexpr std::uint64_t ContiguousPiece = 1u << 20;
constexpr std::uint64_t StridedPiece = 8u << 20;

TensorDigests digestOne(const TensorSource &source, TensorIndex index,
                        const std::vector<std::string> &names, std::stop_token stop,
                        const std::function<void(std::uint64_t)> &done)
{
    TensorDigests result;
    const auto failed = [&](const Error &error) {
        for (const std::string &name : names)
            result.absent.try_emplace(name, error.message());
        result.error = error;
        return result;
    };
    const TensorRef &tensor = source.catalog().tensors[index];
    if (tensor.unreadable)
        return failed(*tensor.unreadable);
    std::vector<std::pair<std::string, std::unique_ptr<TensorDigest>>> digests;
    for (const std::string &name : names) {
        if (auto digest = makeTensorDigest(name, tensor.dtype))
            digests.emplace_back(name, std::move(digest).value());
        else
            result.absent[name] = digest.error().text;
    }
    const Status status = readPieces(source, index, stop, [&](ByteView piece) {
        for (const auto &[name, digest] : digests)
            digest->update(piece);
        done(piece.size());
    });
    if (!status)
        return failed(status.error());
    for (const auto &[name, digest] : digests)
        result.byName[name] = digest->finish();
    return result;
}

} // namespace

Status readPieces(const TensorSource &source, TensorIndex index, const std::stop_token &stop,
                  const std::function<void(ByteView)> &take)
{
    const TensorRef &tensor = source.catalog().tensors[index];
    const std::uint64_t piece = isContiguous(tensor) ? ContiguousPiece : StridedPiece;
    std::vector<std::byte> buffer(std::size_t(std::min(piece, tensor.bytes)));
    for (std::uint64_t first = 0; first < tensor.bytes; first += piece) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        const auto window =
            std::span(buffer).first(std::size_t(std::min(piece, tensor.bytes - first)));
        if (Status status = source.read(index, first, window); !status)
            return std::move(status).error().atPlace("tensor '" + tensor.name + "'");
        take(window);
    }
    return {};
}

std::vector<TensorDigests> digestTensors(const TensorSource &source,
                                         const std::vector<std::string> &names, Executor &executor,
                                         std::stop_token stop,
                                         const std::function<void(const Progress &)> &progress)
{
    const std::vector<TensorRef> &tensors = source.catalog().tensors;
    Progress now{"reading", {}, 0, 0, 0, tensors.size()};
    for (const TensorRef &tensor : tensors)
        now.bytesTotal += tensor.unreadable ? 0 : tensor.bytes;
    std::mutex reporting;
    std::vector<TensorDigests> result(tensors.size());
    executor.forEach(tensors.size(), [&](std::size_t i) {
        result[i] = digestOne(source, i, names, stop, [&](std::uint64_t bytes) {
            const std::lock_guard lock(reporting);
            now.bytesDone += bytes;
            now.item = tensors[i].name;
            if (progress)
                progress(now);
        });
    });
    return result;
}

} // namespace forkpoint
