// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cuda_backend.h"

#include "gpu/cuda_pinned.h"
#include "gpu/cuda_slots.h"
#include "gpu/diff_unit.h"
#include "gpu/part_type.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace forkpoint {

static_assert(kernels::HashLeafBytes == LeafBytes);

namespace {

Digest128 toDigest(const kernels::Hash128 &hash)
{
    return {hash.high, hash.low};
}

std::uint64_t leafCount(std::uint64_t bytes)
{
    return (bytes + LeafBytes - 1) / LeafBytes;
}

/// Elements of one run of a slot: a power of two of blocks and whole leaves, as a piece is to have.
Index runElements(const DType &dtype)
{
    const Index parts = dtype.kind == ElementKind::Complex ? 2 : 1;
    const Index bySize = std::bit_floor(CudaSlot::SideBytes * 8 / dtype.bits);
    return std::min(bySize, CudaSlot::MaxBlocks * BlockParts / parts);
}

/// A type and where its counters lie.
struct Measured
{
    kernels::PartType type;
    kernels::CounterLayout layout;
};

std::optional<Measured> measuredAs(const DType &dtype)
{
    const auto type = partType(dtype);
    if (!type)
        return std::nullopt;
    Measured measured{*type, {}};
    const bool known = kernels::withPolicy(*type, [&](const auto &policy) {
        measured.layout = kernels::counterLayout(policy, type->bits);
    });
    return known ? std::optional(measured) : std::nullopt;
}

std::span<Digest128> part(std::span<Digest128> leaves, std::uint64_t firstByte, std::uint64_t bytes)
{
    if (leaves.empty())
        return leaves;
    return leaves.subspan(std::size_t(firstByte / LeafBytes), std::size_t(leafCount(bytes)));
}

} // namespace

struct CudaBackend::State
{
    SlotPool slots;
    PinnedPool pinned;
    CudaOptions options;

    State(const CudaRuntime &runtime, int firstDevice, const CudaOptions &given)
        : slots(runtime),
          pinned(runtime, firstDevice, CudaSlot::SideBytes, given.memoryBudget),
          options(given)
    {
    }

    /// Runs the request on a device and hands the results to `use`; false: no device did it.
    template <class Use>
    bool run(const SlotRequest &request, const Use &use)
    {
        std::unique_ptr<CudaSlot> slot = slots.take();
        if (!slot)
            return false;
        const CudaStatus status = slot->run(request);
        if (status.ok())
            use(slot->results());
        slots.giveBack(std::move(slot), status);
        return status.ok();
    }

    bool isWorthwhile(std::uint64_t bytes) const { return bytes >= options.leastBytes; }
};

namespace {

/// The digests of a side: those of its whole leaves, and the rest by the processor.
void takeLeaves(const CpuBackend &cpu, ByteView side, std::span<const kernels::Hash128> whole,
                std::span<Digest128> leaves)
{
    if (leaves.empty())
        return;
    std::ranges::transform(whole, leaves.begin(), toDigest);
    if (whole.size() < leaves.size())
        cpu.hashLeaves(side.subspan(whole.size() * LeafBytes), leaves.subspan(whole.size()));
}

SlotRequest requestFor(const PairPiece &piece, const DiffOptions &options, const Measured &measured,
                       bool hashA, bool hashB)
{
    const DiffPiece whole(piece.dtype, piece.a, piece.b, piece.firstElement, piece.elements,
                          options);
    SlotRequest request;
    request.a = piece.a;
    request.b = piece.b;
    request.leavesA = hashA ? piece.a.size() / LeafBytes : 0;
    request.leavesB = hashB ? piece.b.size() / LeafBytes : 0;
    request.type = &measured.type;
    request.diff.piece = whole.view();
    request.diff.rule = whole.rule;
    request.diff.magnitudes = whole.magnitudes;
    request.diff.layout = measured.layout;
    return request;
}

void takeStats(const PairPiece &piece, const DiffOptions &options, const Measured &measured,
               const SlotResults &results, DiffStats &stats)
{
    const DiffPiece whole(piece.dtype, piece.a, piece.b, piece.firstElement, piece.elements,
                          options);
    DiffUnit unit(whole, measured.layout, stats);
    for (std::size_t i = 0; i < results.records.size(); ++i)
        unit.add(whole.block(i * BlockParts), results.records[i], results.sums[i]);
    unit.addCounts(results.counters);
    unit.finish();
}

} // namespace

CudaBackend::CudaBackend(std::unique_ptr<State> state) : m_state(std::move(state)) {}
CudaBackend::~CudaBackend() = default;

Result<std::unique_ptr<CudaBackend>> CudaBackend::open(const CudaRuntime &runtime,
                                                       std::vector<CudaDevice> devices,
                                                       const CudaOptions &options)
{
    std::string reasons;
    std::unique_ptr<State> state;
    for (const CudaDevice &device : devices) {
        if (!state)
            state = std::make_unique<State>(runtime, device.number, options);
        const std::string reason = !device.reason.empty()
            ? device.reason
            : state->slots.add(device, options.slotsPerDevice, options.memoryBudget);
        if (!reason.empty())
            reasons += (reasons.empty() ? "" : "; ") + device.name() + ": " + reason;
    }
    if (!state || state->slots.slots() == 0)
        return Error{ErrorCode::Unsupported, {}, {}, reasons.empty() ? "no such device" : reasons};
    return std::unique_ptr<CudaBackend>(new CudaBackend(std::move(state)));
}

std::string CudaBackend::description() const
{
    const std::string used = m_state->slots.inUse(), lost = m_state->slots.lost();
    return (used.empty() ? "" : "CUDA, " + used + ", and ") + m_cpu.description()
        + (lost.empty() ? "" : "; " + lost);
}

Digest128 CudaBackend::hash(ByteView data) const
{
    return m_cpu.hash(data);
}

void CudaBackend::hashLeaves(ByteView data, std::span<Digest128> leaves) const
{
    for (std::size_t first = 0; first < data.size(); first += CudaSlot::SideBytes) {
        SlotRequest request;
        request.a = data.subspan(first, std::min(CudaSlot::SideBytes, data.size() - first));
        request.leavesA = request.a.size() / LeafBytes;
        const std::span<Digest128> own = part(leaves, first, request.a.size());
        const bool done = m_state->isWorthwhile(request.a.size())
            && m_state->run(request, [&](const SlotResults &results) {
                   takeLeaves(m_cpu, request.a, results.hashesA, own);
               });
        if (!done)
            m_cpu.hashLeaves(request.a, own);
    }
}

void CudaBackend::diff(const DType &dtype, ByteView a, ByteView b, Index firstElement,
                       Index elements, const DiffOptions &options, DiffStats &stats) const
{
    hashAndDiff({dtype, a, b, firstElement, elements}, options, {}, {}, stats);
}

void CudaBackend::hashAndDiff(const PairPiece &piece, const DiffOptions &options,
                              std::span<Digest128> leavesA, std::span<Digest128> leavesB,
                              DiffStats &stats) const
{
    const std::optional<Measured> measured = measuredAs(piece.dtype);
    if (!measured || piece.elements == 0 || !m_state->isWorthwhile(piece.a.size())) {
        m_cpu.hashAndDiff(piece, options, leavesA, leavesB, stats);
        return;
    }
    const Index step = runElements(piece.dtype);
    for (Index first = 0; first < piece.elements; first += step) {
        const Index count = std::min(step, piece.elements - first);
        const std::size_t begin = std::size_t(first * piece.dtype.bits / 8);
        const std::size_t size = std::size_t((count * piece.dtype.bits + 7) / 8);
        const PairPiece own{piece.dtype, piece.a.subspan(begin, size), piece.b.subspan(begin, size),
                            piece.firstElement + first, count};
        const std::span<Digest128> ownA = part(leavesA, begin, size);
        const std::span<Digest128> ownB = part(leavesB, begin, size);
        const bool done =
            m_state->run(requestFor(own, options, *measured, !ownA.empty(), !ownB.empty()),
                         [&](const SlotResults &results) {
                             takeStats(own, options, *measured, results, stats);
                             takeLeaves(m_cpu, own.a, results.hashesA, ownA);
                             takeLeaves(m_cpu, own.b, results.hashesB, ownB);
                         });
        if (!done)
            m_cpu.hashAndDiff(own, options, ownA, ownB, stats);
    }
}

HostBuffer CudaBackend::hostBuffer(std::size_t size) const
{
    HostBuffer lent = m_state->pinned.lend(size);
    return lent ? std::move(lent) : m_cpu.hostBuffer(size);
}

std::uint64_t CudaBackend::pieceBytes() const
{
    return CudaSlot::SideBytes;
}

std::size_t CudaBackend::waitingThreads() const
{
    return m_state->slots.slots();
}

std::vector<std::string> CudaBackend::incidents() const
{
    return m_state->slots.incidents();
}

std::uint64_t CudaBackend::devicePieces() const
{
    return m_state->slots.piecesDone();
}

} // namespace forkpoint
