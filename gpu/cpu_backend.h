// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"

namespace forkpoint {

struct CpuKernels;

/// The kernels of this processor on the calling thread; where none is faster, gpu/kernels itself.
class CpuBackend final : public ComputeBackend
{
public:
    CpuBackend();
    /// For tests: those of another instruction set.
    explicit CpuBackend(const CpuKernels &kernels) : m_kernels(kernels) {}

    std::string description() const override;
    Digest128 hash(ByteView data) const override;
    void hashLeaves(ByteView data, std::span<Digest128> leaves) const override;
    void diff(const DType &dtype, ByteView a, ByteView b, Index firstElement, Index elements,
              const DiffOptions &options, DiffStats &stats) const override;

private:
    const CpuKernels &m_kernels;
};

} // namespace forkpoint
