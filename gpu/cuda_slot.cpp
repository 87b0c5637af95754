// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cuda_slot.h"

#include <cstring>

namespace forkpoint {

namespace {

using kernels::BlockSums;
using kernels::DiffRecord;
using kernels::Hash128;

/// float64 has the most counters.
constexpr std::uint64_t MaxCounters = 1 + 2101 * (2 + 65);
constexpr std::uint64_t MaxLeaves = CudaSlot::SideBytes / kernels::HashLeafBytes;
constexpr std::uint64_t AnswerBytes = sizeof(std::uint64_t) * (1 + MaxCounters)
    + CudaSlot::MaxBlocks * (sizeof(DiffRecord) + sizeof(BlockSums))
    + 2 * MaxLeaves * sizeof(Hash128);

} // namespace

/// One stretch: leaves that are hashed (a counter), the counters of the statistics, and what each
/// block and leaf has to say. The counters, which have to be zero first, come first.
struct CudaSlot::Layout
{
    std::uint64_t counters = sizeof(std::uint64_t);
    std::uint64_t records = 0, sums = 0, hashesA = 0, hashesB = 0, end = 0;

    explicit Layout(const SlotRequest &request)
    {
        const bool measured = request.type != nullptr;
        const std::uint64_t blocks = measured ? request.diff.piece.blocks() : 0;
        records = counters + (measured ? request.diff.layout.size() : 0) * sizeof(std::uint64_t);
        sums = records + blocks * sizeof(DiffRecord);
        hashesA = sums + blocks * sizeof(BlockSums);
        hashesB = hashesA + request.leavesA * sizeof(Hash128);
        end = hashesB + request.leavesB * sizeof(Hash128);
    }

    bool fits(const SlotRequest &request) const
    {
        return end <= AnswerBytes && request.a.size() <= SideBytes && request.b.size() <= SideBytes
            && request.leavesA * kernels::HashLeafBytes <= request.a.size()
            && request.leavesB * kernels::HashLeafBytes <= request.b.size();
    }
};

std::uint64_t CudaSlot::deviceBytes()
{
    return 2 * SideBytes + AnswerBytes;
}

std::uint64_t CudaSlot::pinnedBytes()
{
    return AnswerBytes;
}

CudaStatus CudaSlot::open(const CudaRuntime &runtime, int device, std::unique_ptr<CudaSlot> &slot)
{
    std::unique_ptr<CudaSlot> made(new CudaSlot(runtime, device));
    FP_CUDA_TRY(made->allocate());
    slot = std::move(made);
    return {};
}

CudaStatus CudaSlot::allocate()
{
    FP_CUDA_TRY(m_runtime.select(m_device));
    FP_CUDA_TRY(
        m_stream.make(m_runtime, m_device, &CudaRuntime::destroyStream, m_runtime.createStream));
    FP_CUDA_TRY(
        m_event.make(m_runtime, m_device, &CudaRuntime::destroyEvent, m_runtime.createEvent));
    const auto onDevice = [&](CudaHandle &memory, std::size_t size) {
        return memory.make(m_runtime, m_device, &CudaRuntime::release,
                           [&](void *&made) { return m_runtime.allocate(made, size); });
    };
    FP_CUDA_TRY(onDevice(m_a, SideBytes));
    FP_CUDA_TRY(onDevice(m_b, SideBytes));
    FP_CUDA_TRY(onDevice(m_answer, AnswerBytes));
    return m_pinned.make(m_runtime, m_device, &CudaRuntime::releasePinned,
                         [&](void *&made) { return m_runtime.allocatePinned(made, AnswerBytes); });
}

CudaStatus CudaSlot::probe(std::uint64_t &faults)
{
    FP_CUDA_TRY(m_runtime.select(m_device));
    FP_CUDA_TRY(m_runtime.launchProbe(m_answer.as<std::uint64_t>(), m_stream.get()));
    FP_CUDA_TRY(fetch(sizeof faults));
    FP_CUDA_TRY(m_runtime.waitEvent(m_event.get()));
    faults = *m_pinned.as<std::uint64_t>();
    return {};
}

CudaStatus CudaSlot::run(const SlotRequest &request)
{
    const Layout layout(request);
    m_results = {};
    if (!layout.fits(request))
        return {CudaFault::Failed, "a piece is larger than a slot"};
    CudaStatus status = submit(request, layout);
    if (status.ok())
        status = m_runtime.waitEvent(m_event.get());
    if (status.ok() && !isComplete(request, layout))
        status = {CudaFault::Failed, "ended without an error, but not all of its work was done"};
    if (status.ok())
        point(request, layout);
    else
        m_runtime.waitStream(m_stream.get()); // nothing may read the caller's bytes after this
    return status;
}

CudaStatus CudaSlot::submit(const SlotRequest &request, const Layout &layout)
{
    // What an earlier run left must not look like an answer.
    std::memset(m_pinned.get(), 0xFF, layout.counters + sizeof(std::uint64_t));
    FP_CUDA_TRY(m_runtime.select(m_device));
    FP_CUDA_TRY(
        m_runtime.copyToDevice(m_a.get(), request.a.data(), request.a.size(), m_stream.get()));
    if (!request.b.empty())
        FP_CUDA_TRY(
            m_runtime.copyToDevice(m_b.get(), request.b.data(), request.b.size(), m_stream.get()));
    FP_CUDA_TRY(m_runtime.clear(m_answer.get(), layout.records, m_stream.get()));
    FP_CUDA_TRY(launch(request, layout));
    return fetch(layout.end);
}

CudaStatus CudaSlot::launch(const SlotRequest &request, const Layout &layout)
{
    auto *answer = m_answer.as<std::uint8_t>();
    const auto at = [&]<class T>(std::uint64_t offset, T *) {
        return reinterpret_cast<T *>(answer + offset);
    };
    if (request.type != nullptr) {
        kernels::DiffWork work = request.diff;
        work.piece.a = m_a.as<std::uint8_t>();
        work.piece.b = m_b.as<std::uint8_t>();
        work.counters = at(layout.counters, work.counters);
        work.records = at(layout.records, work.records);
        work.sums = at(layout.sums, work.sums);
        FP_CUDA_TRY(m_runtime.launchDiff(*request.type, work, m_stream.get()));
    }
    const auto leaves = [&](const CudaHandle &side, std::uint64_t count,
                            std::uint64_t offset) -> CudaStatus {
        if (count == 0)
            return {};
        kernels::LeafWork work;
        work.data = side.as<std::uint8_t>();
        work.leaves = count;
        work.hashes = at(offset, work.hashes);
        work.done = m_answer.as<std::uint64_t>();
        return m_runtime.launchLeaves(work, m_stream.get());
    };
    FP_CUDA_TRY(leaves(m_a, request.leavesA, layout.hashesA));
    return leaves(m_b, request.leavesB, layout.hashesB);
}

/// Lets the first bytes of the answer come to the host.
CudaStatus CudaSlot::fetch(std::size_t bytes)
{
    FP_CUDA_TRY(m_runtime.copyToHost(m_pinned.get(), m_answer.get(), bytes, m_stream.get()));
    return m_runtime.recordEvent(m_event.get(), m_stream.get());
}

bool CudaSlot::isComplete(const SlotRequest &request, const Layout &layout) const
{
    const auto *answer = m_pinned.as<std::uint8_t>();
    std::uint64_t leaves = 0, blocks = 0;
    std::memcpy(&leaves, answer, sizeof leaves);
    if (request.type != nullptr)
        std::memcpy(&blocks, answer + layout.counters, sizeof blocks);
    return leaves == request.leavesA + request.leavesB
        && blocks == (request.type != nullptr ? request.diff.piece.blocks() : 0);
}

void CudaSlot::point(const SlotRequest &request, const Layout &layout)
{
    const auto *answer = m_pinned.as<std::uint8_t>();
    const auto at = [&]<class T>(std::span<const T> &part, std::uint64_t offset,
                                 std::uint64_t count) {
        part = {reinterpret_cast<const T *>(answer + offset), std::size_t(count)};
    };
    const std::uint64_t blocks = request.type != nullptr ? request.diff.piece.blocks() : 0;
    at(m_results.records, layout.records, blocks);
    at(m_results.sums, layout.sums, blocks);
    at(m_results.hashesA, layout.hashesA, request.leavesA);
    at(m_results.hashesB, layout.hashesB, request.leavesB);
    m_results.counters = reinterpret_cast<const std::uint64_t *>(answer + layout.counters);
}

} // namespace forkpoint
