// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pair_reading.h"

#include "model/element.h"

#include <algorithm>
#include <bit>
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

/// The bytes that are one side of these elements, widened where the pair is compared as a wider
/// type.
class SideElements
{
public:
    SideElements(const SourcedTensor &tensor, const DType &as, bool widen)
        : m_tensor(tensor),
          m_as(as),
          m_own(widen ? tensor.ref().dtype : as),
          m_widen(widen)
    {
    }

    Status read(Index first, Index count)
    {
        const ByteRange range = bytesOf(m_own, first, count);
        m_raw.resize(std::size_t(range.size));
        FP_CHECK(m_tensor.source->read(m_tensor.index, range.first, m_raw));
        if (m_widen)
            widenElements(m_own, m_as, m_raw, m_wide);
        return {};
    }
    ByteView stored() const { return m_raw; }
    ByteView asMeasured() const { return m_widen ? m_wide : m_raw; }

private:
    SourcedTensor m_tensor;
    const DType &m_as;
    DType m_own;
    bool m_widen;
    std::vector<std::byte> m_raw, m_wide;
};

/// Elements of one buffer: in the second-level cache, and whole leaves of both sides.
Index pieceLength(const PairOfTensors &pair, const MeasuredAs &as)
{
    const bool contiguous = isContiguous(pair.a->ref()) && isContiguous(pair.b->ref());
    // The statistics of 8-bit types go by pairs of codes, which pay off in longer stretches.
    const std::uint64_t bytes = !contiguous ? StridedPiece
        : as.dtype.bits == 8                ? 16 * LeafBytes
                                            : ContiguousPiece;
    const Index unit = unitLength(as);
    const auto wholeLeaves = [&](Index elements) {
        return elements * pair.a->ref().dtype.bits % (8 * LeafBytes) == 0
            && elements * pair.b->ref().dtype.bits % (8 * LeafBytes) == 0;
    };
    Index piece = std::min(unit, std::bit_floor(bytes * 8 / as.dtype.bits));
    while (piece < unit && !wholeLeaves(piece))
        piece *= 2;
    return piece;
}

/// One unit in the making.
class UnitReader
{
public:
    UnitReader(const PairOfTensors &pair, const MeasuredAs &as, const UnitRequest &request,
               const ComputeBackend &backend)
        : m_pair(pair),
          m_as(as),
          m_request(request),
          m_backend(backend),
          m_a(*pair.a, as.dtype, as.widenA),
          m_b(*pair.b, as.dtype, as.widenB)
    {
    }

    UnitReading read(std::stop_token stop)
    {
        const Index piece = pieceLength(m_pair, m_as);
        const Index end = m_request.first + m_request.count;
        for (Index first = m_request.first; first < end; first += piece) {
            if (stop.stop_requested())
                m_result.errorA = cancelled();
            else
                readPiece(first, std::min(piece, end - first));
            if (m_result.errorA || m_result.errorB
                || (m_result.differs && m_request.firstDifferenceEnds))
                break;
        }
        return std::move(m_result);
    }

private:
    void readPiece(Index first, Index count)
    {
        if (!load(m_a, first, count, m_result.errorA) || !load(m_b, first, count, m_result.errorB))
            return;
        const bool same = !m_as.widenA && !m_as.widenB && sameBytes(m_a.stored(), m_b.stored());
        if (m_request.digests)
            addLeaves(same);
        const bool firstDifference = !same && !m_result.differs;
        m_result.differs |= !same;
        const bool wanted = m_request.measuring == MeasureWhen::Always
            || (m_request.measuring == MeasureWhen::IfDifferent && m_result.differs);
        if (!wanted)
            return;
        if (!m_result.stats) {
            m_result.stats.emplace();
            if (firstDifference && first > m_request.first && !measureEqual(first))
                return;
        }
        m_backend.diff(m_as.dtype, m_a.asMeasured(), m_b.asMeasured(), first, count, m_request.diff,
                       *m_result.stats);
    }

    static bool load(SideElements &side, Index first, Index count, std::optional<Error> &error)
    {
        if (Status status = side.read(first, count); !status)
            error = std::move(status).error();
        return !error;
    }

    void addLeaves(bool same)
    {
        const std::size_t before = m_result.leavesA.size();
        appendLeaves(m_backend, m_a.stored(), m_result.leavesA);
        if (same)
            m_result.leavesB.insert(m_result.leavesB.end(),
                                    m_result.leavesA.begin() + std::ptrdiff_t(before),
                                    m_result.leavesA.end());
        else
            appendLeaves(m_backend, m_b.stored(), m_result.leavesB);
    }

    /// Measures what was skipped because it is equal: [begin of the unit, end).
    bool measureEqual(Index end)
    {
        const Index piece = pieceLength(m_pair, m_as);
        SideElements again(*m_pair.a, m_as.dtype, false);
        for (Index first = m_request.first; first < end; first += piece) {
            const Index count = std::min(piece, end - first);
            if (!load(again, first, count, m_result.errorA))
                return false;
            m_backend.diff(m_as.dtype, again.stored(), again.stored(), first, count, m_request.diff,
                           *m_result.stats);
        }
        return true;
    }

    const PairOfTensors &m_pair;
    const MeasuredAs &m_as;
    const UnitRequest &m_request;
    const ComputeBackend &m_backend;
    SideElements m_a, m_b;
    UnitReading m_result;
};

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

Index unitLength(const MeasuredAs &as)
{
    return std::max<Index>(unitElements(as.dtype) / 2, 1);
}

UnitReading readUnit(const PairOfTensors &pair, const MeasuredAs &as, const UnitRequest &request,
                     const ComputeBackend &backend, std::stop_token stop)
{
    return UnitReader(pair, as, request, backend).read(std::move(stop));
}

Result<DiffStats> measure(const PairOfTensors &pair, const MeasuredAs &as, Index first, Index count,
                          const DiffOptions &options, const ComputeBackend &backend,
                          std::stop_token stop)
{
    // A power of two of leaves, so that pieces append as aligned subtrees of the sums.
    const Index piece = std::max<Index>(unitElements(as.dtype) / 8, 1);
    DiffStats total;
    SideElements a(*pair.a, as.dtype, as.widenA);
    std::optional<SideElements> b;
    if (pair.b)
        b.emplace(*pair.b, as.dtype, as.widenB);
    for (Index done = 0; done < count; done += piece) {
        if (stop.stop_requested())
            return cancelled();
        const Index size = std::min(piece, count - done);
        FP_CHECK(a.read(first + done, size));
        if (b)
            FP_CHECK(b->read(first + done, size));
        backend.diff(as.dtype, a.asMeasured(), b ? b->asMeasured() : a.asMeasured(), first + done,
                     size, options, total);
    }
    return total;
}

} // namespace forkpoint
