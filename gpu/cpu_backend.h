// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"

namespace forkpoint {

/// The kernels of gpu/kernels on the calling thread: the meaning of every figure, in plain code.
class CpuBackend final : public ComputeBackend
{
public:
    std::string description() const override;
    Digest128 hash(ByteView data) const override;
    void hashLeaves(ByteView data, std::span<Digest128> leaves) const override;
    void diff(const DType &dtype, ByteView a, ByteView b, Index firstElement, Index elements,
              const Tolerance &tolerance, DiffStats &stats) const override;
};

} // namespace forkpoint
