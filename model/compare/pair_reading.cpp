// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/pair_reading.h"

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

std::uint64_t pieceBytes(const PairOfTensors &pair, const ComputeBackend &backend)
{
    const bool contiguous =
        (!pair.a || isContiguous(pair.a->ref())) && (!pair.b || isContiguous(pair.b->ref()));
    return std::max(contiguous ? ContiguousPiece : StridedPiece, backend.pieceBytes());
}

Error cancelled()
{
    return {ErrorCode::Cancelled, {}, {}, "cancelled"};
}

/// Room for the digests of the leaves that follow.
std::span<Digest128> roomFor(ByteView data, std::vector<Digest128> &leaves)
{
    const std::size_t count = std::size_t((data.size() + LeafBytes - 1) / LeafBytes);
    leaves.resize(leaves.size() + count);
    return std::span(leaves).last(count);
}

void appendLeaves(const ComputeBackend &backend, ByteView data, std::vector<Digest128> &leaves)
{
    backend.hashLeaves(data, roomFor(data, leaves));
}

/// Memory that one piece after the other is read into.
class PieceBuffer
{
public:
    explicit PieceBuffer(const ComputeBackend &backend) : m_backend(backend) {}

    MutableByteView resize(std::uint64_t size)
    {
        if (size > m_capacity) {
            m_bytes = nullptr; // before another one is asked for
            m_bytes = m_backend.hostBuffer(std::size_t(size));
            m_capacity = std::size_t(size);
        }
        m_size = std::size_t(size);
        return {m_bytes.get(), m_size};
    }
    ByteView data() const { return {m_bytes.get(), m_size}; }

private:
    const ComputeBackend &m_backend;
    HostBuffer m_bytes;
    std::size_t m_size = 0, m_capacity = 0;
};

/// One side of a range, buffer by buffer.
class SideReader
{
public:
    SideReader(const std::optional<SourcedTensor> &tensor, const ComputeBackend &backend)
        : m_tensor(tensor),
          m_buffer(backend)
    {
    }

    bool present() const { return m_tensor.has_value(); }
    Status read(std::uint64_t first, std::uint64_t size)
    {
        return m_tensor->source->read(m_tensor->index, first, m_buffer.resize(size));
    }
    ByteView data() const { return m_buffer.data(); }

private:
    const std::optional<SourcedTensor> &m_tensor;
    PieceBuffer m_buffer;
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
    SideElements(const SourcedTensor &tensor, const DType &as, bool widen,
                 const ComputeBackend &backend)
        : m_tensor(tensor),
          m_as(as),
          m_own(widen ? tensor.ref().dtype : as),
          m_widen(widen),
          m_raw(backend)
    {
    }

    Status read(Index first, Index count)
    {
        const ByteRange range = bytesOf(m_own, first, count);
        FP_CHECK(m_tensor.source->read(m_tensor.index, range.first, m_raw.resize(range.size)));
        if (m_widen)
            widenElements(m_own, m_as, stored(), m_wide);
        return {};
    }
    ByteView stored() const { return m_raw.data(); }
    ByteView asMeasured() const { return m_widen ? ByteView(m_wide) : stored(); }

private:
    SourcedTensor m_tensor;
    const DType &m_as;
    DType m_own;
    bool m_widen;
    PieceBuffer m_raw;
    std::vector<std::byte> m_wide;
};

/// Elements of one buffer: in the second-level cache or as a device likes it, and whole leaves of
/// both sides.
Index pieceLength(const PairOfTensors &pair, const MeasuredAs &as, const ComputeBackend &backend)
{
    const bool contiguous = isContiguous(pair.a->ref()) && isContiguous(pair.b->ref());
    // The statistics of 8-bit types go by pairs of codes, which pay off in longer stretches.
    const std::uint64_t suitable = !contiguous ? StridedPiece
        : as.dtype.bits == 8                   ? 16 * LeafBytes
                                               : ContiguousPiece;
    const std::uint64_t bytes = std::max(suitable, backend.pieceBytes());
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
          m_piece(pieceLength(pair, as, backend)),
          m_a(*pair.a, as.dtype, as.widenA, backend),
          m_b(*pair.b, as.dtype, as.widenB, backend)
    {
    }

    UnitReading read(std::stop_token stop)
    {
        const Index end = m_request.first + m_request.count;
        for (Index first = m_request.first; first < end; first += m_piece) {
            if (stop.stop_requested())
                m_result.errorA = cancelled();
            else
                readPiece(first, std::min(m_piece, end - first));
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
        const bool widened = m_as.widenA || m_as.widenB;
        const bool same = !widened && sameBytes(m_a.stored(), m_b.stored());
        const bool firstDifference = !same && !m_result.differs;
        m_result.differs |= !same;
        const bool wanted = m_request.measuring == MeasureWhen::Always
            || (m_request.measuring == MeasureWhen::IfDifferent && m_result.differs);
        const bool together = m_request.digests && wanted && !widened;
        if (m_request.digests && !together)
            addLeaves(same);
        if (!wanted)
            return;
        if (!m_result.stats) {
            m_result.stats.emplace();
            if (firstDifference && first > m_request.first && !measureEqual(first))
                return;
        }
        const PairPiece piece{m_as.dtype, m_a.asMeasured(), m_b.asMeasured(), first, count};
        if (together)
            hashAndMeasure(piece, same);
        else
            m_backend.diff(piece.dtype, piece.a, piece.b, first, count, m_request.diff,
                           *m_result.stats);
    }

    /// Of equal bytes only A is hashed.
    void hashAndMeasure(const PairPiece &piece, bool same)
    {
        const std::span<Digest128> leavesA = roomFor(piece.a, m_result.leavesA);
        const std::span<Digest128> leavesB = roomFor(piece.b, m_result.leavesB);
        m_backend.hashAndDiff(piece, m_request.diff, leavesA,
                              same ? std::span<Digest128>() : leavesB, *m_result.stats);
        if (same)
            std::ranges::copy(leavesA, leavesB.begin());
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
        SideElements again(*m_pair.a, m_as.dtype, false, m_backend);
        for (Index first = m_request.first; first < end; first += m_piece) {
            const Index count = std::min(m_piece, end - first);
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
    const Index m_piece; ///< elements read at a time
    SideElements m_a, m_b;
    UnitReading m_result;
};

} // namespace

LeafReading readLeaves(const PairOfTensors &pair, ByteRange range, const ComputeBackend &backend,
                       bool wantDigests, std::stop_token stop)
{
    LeafReading result;
    const std::uint64_t piece =
        std::min(pieceBytes(pair, backend), std::max<std::uint64_t>(range.size, 1));
    SideReader a(pair.a, backend), b(pair.b, backend);
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
    SideElements a(*pair.a, as.dtype, as.widenA, backend);
    std::optional<SideElements> b;
    if (pair.b)
        b.emplace(*pair.b, as.dtype, as.widenB, backend);
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
