// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pair_reading.h"

#include "model/element.h"

#include <algorithm>
#include <cstring>

namespace forkpoint {

namespace {

/// Reads that follow one run of bytes are small, to stay in the second-level cache; reads through
/// strides are large, because each of them visits the whole range of addresses.
constexpr std::uint64_t ContiguousPiece = 4 * LeafBytes;
constexpr std::uint64_t StridedPiece = 64 * LeafBytes;

std::uint64_t pieceBytes(const PairOfTensors &pair)
{
    const bool contiguous =
        (!pair.a || isContiguous(pair.a->ref())) && (!pair.b || isContiguous(pair.b->ref()));
    return contiguous ? ContiguousPiece : StridedPiece;
}

Error cancelled()
{
    return {ErrorCode::Cancelled, {}, {}, "cancelled"};
}

void appendLeaves(const ComputeBackend &backend, ByteView data, std::vector<Digest128> &leaves)
{
    const std::size_t count = std::size_t((data.size() + LeafBytes - 1) / LeafBytes);
    leaves.resize(leaves.size() + count);
    backend.hashLeaves(data, std::span(leaves).last(count));
}

/// One side of a range, buffer by buffer.
class SideReader
{
public:
    SideReader(const std::optional<SourcedTensor> &tensor, std::uint64_t capacity)
        : m_tensor(tensor)
    {
        if (m_tensor)
            m_buffer.resize(std::size_t(capacity));
    }

    bool present() const { return m_tensor.has_value(); }
    Status read(std::uint64_t first, std::uint64_t size)
    {
        m_size = std::size_t(size);
        return m_tensor->source->read(m_tensor->index, first, std::span(m_buffer).first(m_size));
    }
    ByteView data() const { return std::span(m_buffer).first(m_size); }

private:
    const std::optional<SourcedTensor> &m_tensor;
    std::vector<std::byte> m_buffer;
    std::size_t m_size = 0;
};

bool sameBytes(ByteView a, ByteView b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Bytes of the elements [first, first + count); whole because blocks are whole bytes.
ByteRange bytesOf(const DType &dtype, Index first, Index count)
{
    return {first * dtype.bits / 8, (count * dtype.bits + 7) / 8};
}

/// Reads elements of one side, widened where the pair is compared as a wider type.
Status readElementsOf(const SourcedTensor &tensor, const DType &as, bool widen, Index first,
                      Index count, std::vector<std::byte> &out)
{
    const DType &own = tensor.ref().dtype;
    const ByteRange range = bytesOf(widen ? own : as, first, count);
    std::vector<std::byte> raw(std::size_t(range.size));
    FP_CHECK(tensor.source->read(tensor.index, range.first, raw));
    if (widen)
        widenElements(own, as, raw, out);
    else
        out = std::move(raw);
    return {};
}

} // namespace

LeafReading readLeaves(const PairOfTensors &pair, ByteRange range, const ComputeBackend &backend,
                       bool wantDigests, std::stop_token stop)
{
    LeafReading result;
    const std::uint64_t piece = std::min(pieceBytes(pair), std::max<std::uint64_t>(range.size, 1));
    SideReader a(pair.a, piece), b(pair.b, piece);
    for (std::uint64_t done = 0; done < range.size; done += piece) {
        if (stop.stop_requested()) {
            result.errorA = cancelled();
            return result;
        }
        const std::uint64_t size = std::min(piece, range.size - done);
        if (a.present()) {
            if (Status status = a.read(range.first + done, size); !status)
                result.errorA = std::move(status).error();
        }
        if (b.present()) {
            if (Status status = b.read(range.first + done, size); !status)
                result.errorB = std::move(status).error();
        }
        if (result.errorA || result.errorB)
            return result;
        const bool same = a.present() && b.present() && sameBytes(a.data(), b.data());
        result.differs |= a.present() && b.present() && !same;
        if (!wantDigests)
            continue;
        if (a.present())
            appendLeaves(backend, a.data(), result.leavesA);
        if (same) {
            const std::size_t count = result.leavesA.size() - result.leavesB.size();
            result.leavesB.insert(result.leavesB.end(),
                                  result.leavesA.end() - std::ptrdiff_t(count),
                                  result.leavesA.end());
        } else if (b.present()) {
            appendLeaves(backend, b.data(), result.leavesB);
        }
    }
    return result;
}

Result<DiffStats> measure(const PairOfTensors &pair, const MeasuredAs &as, Index first, Index count,
                          const DiffOptions &options, const ComputeBackend &backend,
                          std::stop_token stop)
{
    // A power of two of blocks, so that pieces append as aligned subtrees of the sums.
    const Index piece = std::max<Index>(unitElements(as.dtype) / 16, 1);
    DiffStats total;
    std::vector<std::byte> a, b;
    for (Index done = 0; done < count; done += piece) {
        if (stop.stop_requested())
            return cancelled();
        const Index size = std::min(piece, count - done);
        FP_CHECK(readElementsOf(*pair.a, as.dtype, as.widenA, first + done, size, a));
        FP_CHECK(readElementsOf(*pair.b, as.dtype, as.widenB, first + done, size, b));
        backend.diff(as.dtype, a, b, first + done, size, options, total);
    }
    return total;
}

} // namespace forkpoint
