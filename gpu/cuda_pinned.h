// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cuda_handle.h"
#include "model/compute_backend.h"

#include <mutex>
#include <vector>

namespace forkpoint {

/// Memory of the host that a device can read by itself, in buffers of one size, made when they are
/// first wanted and never more than a budget. Whoever gets none reads into ordinary memory, from
/// where a copy takes longer.
class PinnedPool
{
public:
    PinnedPool(const CudaRuntime &runtime, int device, std::size_t size, std::uint64_t budget)
        : m_runtime(runtime),
          m_device(device),
          m_size(size),
          m_left(budget / size)
    {
    }

    /// No buffer: too large or too small a wish, or none left.
    HostBuffer lend(std::size_t size);

private:
    CudaHandle take();

    const CudaRuntime &m_runtime;
    const int m_device;
    const std::size_t m_size;
    std::mutex m_mutex;
    std::uint64_t m_left; ///< buffers that may still be made
    std::vector<CudaHandle> m_free;
};

} // namespace forkpoint
