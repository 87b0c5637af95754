// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cpu_backend.h"
#include "gpu/cuda_devices.h"
#include "model/result.h"

namespace forkpoint {

struct CudaOptions
{
    /// Memory that may be taken on each device, and as much again of pinned memory on the host; never
    /// more than half of what is free on the device.
    std::uint64_t memoryBudget = 256U << 20;
    std::size_t slotsPerDevice = 4;
    /// Sides of fewer bytes are left to the processor: a launch takes longer than they do there.
    std::size_t leastBytes = 256U << 10;
};

/// Devices of CUDA, and the processor beside them. A piece goes to a device that has a free slot,
/// else to the processor. Whatever goes wrong on a device, the piece is computed by the processor
/// instead, with the same bits: what is incomplete is not believed, and a device that failed is not
/// asked again.
class CudaBackend final : public ComputeBackend
{
public:
    /// Unsupported, with the reason, where none of the devices can be started.
    static Result<std::unique_ptr<CudaBackend>> open(const CudaRuntime &runtime,
                                                     std::vector<CudaDevice> devices,
                                                     const CudaOptions &options = {});
    ~CudaBackend() override;

    std::string description() const override;
    Digest128 hash(ByteView data) const override;
    void hashLeaves(ByteView data, std::span<Digest128> leaves) const override;
    void diff(const DType &dtype, ByteView a, ByteView b, Index firstElement, Index elements,
              const DiffOptions &options, DiffStats &stats) const override;
    void hashAndDiff(const PairPiece &piece, const DiffOptions &options,
                     std::span<Digest128> leavesA, std::span<Digest128> leavesB,
                     DiffStats &stats) const override;

    HostBuffer hostBuffer(std::size_t size) const override;
    std::uint64_t pieceBytes() const override;
    std::size_t waitingThreads() const override;
    std::vector<std::string> incidents() const override;

    /// Pieces that devices have done so far.
    std::uint64_t devicePieces() const;

private:
    struct State;

    explicit CudaBackend(std::unique_ptr<State> state);

    std::unique_ptr<State> m_state;
    CpuBackend m_cpu;
};

} // namespace forkpoint
