// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cuda_pinned.h"

namespace forkpoint {

HostBuffer PinnedPool::lend(std::size_t size)
{
    if (size > m_size || size < m_size / 4)
        return {};
    const std::lock_guard lock(m_mutex);
    auto handle = std::make_shared<CudaHandle>(take());
    if (handle->get() == nullptr)
        return {};
    return {handle->as<std::byte>(), [this, handle](std::byte *) {
                const std::lock_guard again(m_mutex);
                m_free.push_back(std::move(*handle));
            }};
}

CudaHandle PinnedPool::take()
{
    CudaHandle handle;
    if (!m_free.empty()) {
        handle = std::move(m_free.back());
        m_free.pop_back();
        return handle;
    }
    if (m_left == 0 || !m_runtime.select(m_device).ok())
        return handle;
    const auto make = [&](void *&made) { return m_runtime.allocatePinned(made, m_size); };
    const bool made = handle.make(m_runtime, m_device, &CudaRuntime::releasePinned, make).ok();
    m_left = made ? m_left - 1 : 0; // where there is no more now, nobody asks again
    return handle;
}

} // namespace forkpoint
