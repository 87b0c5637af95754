// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cuda_runtime.h"

#include <utility>

/// Returns the status of a call that did not succeed.
#define FP_CUDA_TRY(call)                               \
    do {                                                \
        if (CudaStatus status_ = (call); !status_.ok()) \
            return status_;                             \
    } while (false)

namespace forkpoint {

/// Memory, a stream or an event, given back to the device it came from. A device that was lost may
/// refuse; there is nothing to be done about that.
class CudaHandle
{
public:
    using Release = std::function<CudaStatus(void *)> CudaRuntime::*;

    CudaHandle() = default;
    CudaHandle(CudaHandle &&other) noexcept { swap(other); }
    CudaHandle &operator=(CudaHandle &&other) noexcept
    {
        swap(other);
        return *this;
    }
    ~CudaHandle()
    {
        if (m_handle == nullptr)
            return;
        m_runtime->select(m_device);
        (m_runtime->*m_release)(m_handle);
    }

    void *get() const { return m_handle; }
    template <class T>
    T *as() const
    {
        return static_cast<T *>(m_handle);
    }

    /// What `make(handle)` makes on the thread's selected device, which is `device`.
    template <class Make>
    CudaStatus make(const CudaRuntime &runtime, int device, Release release, const Make &make)
    {
        CudaHandle made;
        made.m_runtime = &runtime;
        made.m_device = device;
        made.m_release = release;
        void *handle = nullptr;
        FP_CUDA_TRY(make(handle));
        if (handle == nullptr)
            return {CudaFault::Failed, "nothing was made"};
        made.m_handle = handle;
        *this = std::move(made);
        return {};
    }

private:
    void swap(CudaHandle &other)
    {
        std::swap(m_runtime, other.m_runtime);
        std::swap(m_device, other.m_device);
        std::swap(m_release, other.m_release);
        std::swap(m_handle, other.m_handle);
    }

    const CudaRuntime *m_runtime = nullptr;
    int m_device = 0;
    Release m_release = nullptr;
    void *m_handle = nullptr;
};

} // namespace forkpoint
