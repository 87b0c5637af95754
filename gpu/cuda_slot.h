// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cuda_handle.h"
#include "model/bytes.h"

#include <memory>
#include <span>

namespace forkpoint {

/// What one slot is to do: bytes of one or both sides, within its limits.
struct SlotRequest
{
    ByteView a, b;
    std::uint64_t leavesA = 0, leavesB = 0;  ///< whole leaves to hash, from the beginning
    const kernels::PartType *type = nullptr; ///< null: nothing is measured
    /// Of host memory; counters and what follows them are the slot's affair.
    kernels::DiffWork diff{};
};

/// Where the answers lie until the slot's next run.
struct SlotResults
{
    std::span<const kernels::Hash128> hashesA, hashesB;
    std::span<const kernels::DiffRecord> records;
    std::span<const kernels::BlockSums> sums;
    const std::uint64_t *counters = nullptr; ///< in the layout of the request
};

/// Memory on a device, a stream, and pinned memory for the answers: what one piece needs on its way
/// there and back. Pieces of several slots overlap: while one is read, another is copied and a third
/// one computed. Used by one thread at a time.
class CudaSlot
{
public:
    /// Bytes of one side, and blocks, that a request may have.
    static constexpr std::size_t SideBytes = 4U << 20;
    static constexpr std::uint64_t MaxBlocks = 4096;
    /// Memory that a slot takes: on the device, and pinned on the host.
    static std::uint64_t deviceBytes();
    static std::uint64_t pinnedBytes();

    static CudaStatus open(const CudaRuntime &runtime, int device, std::unique_ptr<CudaSlot> &slot);

    int device() const { return m_device; }
    /// The ArithmeticFaults of the device.
    CudaStatus probe(std::uint64_t &faults);
    /// Returns when all is done, or nothing is going on any more. Only after success are there
    /// results, and they are complete.
    CudaStatus run(const SlotRequest &request);
    const SlotResults &results() const { return m_results; }

private:
    /// Where the parts of the answer lie, in bytes.
    struct Layout;

    CudaSlot(const CudaRuntime &runtime, int device) : m_runtime(runtime), m_device(device) {}
    CudaStatus allocate();
    CudaStatus submit(const SlotRequest &request, const Layout &layout);
    CudaStatus launch(const SlotRequest &request, const Layout &layout);
    CudaStatus fetch(std::size_t bytes);
    bool isComplete(const SlotRequest &request, const Layout &layout) const;
    void point(const SlotRequest &request, const Layout &layout);

    const CudaRuntime &m_runtime;
    int m_device;
    CudaHandle m_stream, m_event;
    CudaHandle m_a, m_b, m_answer; ///< on the device
    CudaHandle m_pinned;           ///< the answer on the host
    SlotResults m_results;
};

} // namespace forkpoint
