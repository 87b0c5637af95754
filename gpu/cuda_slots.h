// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cuda_devices.h"
#include "gpu/cuda_slot.h"

#include <mutex>

namespace forkpoint {

/// The slots of some devices, lent to one thread at a time, and what became of the devices.
class SlotPool
{
public:
    explicit SlotPool(const CudaRuntime &runtime) : m_runtime(runtime) {}

    /// As many slots as the budget and half of the device's free memory allow, at most `wanted`.
    /// The reason why there are none, or an empty text.
    std::string add(const CudaDevice &device, std::size_t wanted, std::uint64_t budget);

    /// A slot that nobody uses, of the device that has most of them; null: none.
    std::unique_ptr<CudaSlot> take();
    /// Gives a slot back after a run. One that failed is closed, and unless memory was all that it
    /// lacked, so are all of its device.
    void giveBack(std::unique_ptr<CudaSlot> slot, const CudaStatus &status);

    std::size_t slots() const;
    /// "NVIDIA H200 (cuda:0, cuda:1)" for the devices that are still in use, "cuda:1 was lost" for the others.
    std::string inUse() const;
    std::string lost() const;
    std::vector<std::string> incidents() const;
    std::uint64_t piecesDone() const;

private:
    struct Device
    {
        CudaDevice device;
        std::vector<std::unique_ptr<CudaSlot>> free;
        std::size_t slots = 0; ///< open ones, lent or free
        bool lost = false;
        std::uint64_t done = 0;
        std::uint64_t failed = 0;
        std::string fault; ///< of the first failure
    };

    Device &deviceOf(const CudaSlot &slot);

    const CudaRuntime &m_runtime;
    mutable std::mutex m_mutex;
    std::vector<Device> m_devices;
};

} // namespace forkpoint
