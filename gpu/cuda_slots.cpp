// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cuda_slots.h"

#include "gpu/kernels/arithmetic_probe.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Why a device that was started must not compute, or an empty text.
std::string arithmeticFaults(CudaSlot &slot)
{
    std::uint64_t faults = 0;
    if (const CudaStatus status = slot.probe(faults); !status.ok())
        return "a first kernel did not run: " + status.text;
    if (faults & (kernels::FlushesResults | kernels::FlushesOperands))
        return "it flushes subnormal numbers to zero";
    return faults != 0 ? "its arithmetic rounds otherwise than IEEE 754 does" : "";
}

} // namespace

std::string SlotPool::add(const CudaDevice &device, std::size_t wanted, std::uint64_t budget)
{
    std::uint64_t available = 0;
    CudaStatus status = m_runtime.select(device.number);
    if (status.ok())
        status = m_runtime.freeMemory(available);
    if (!status.ok())
        return "cannot be started: " + status.text;
    const std::uint64_t allowed = std::min(budget, available / 2) / CudaSlot::deviceBytes();
    Device added;
    added.device = device;
    for (std::uint64_t i = 0; status.ok() && i < std::min<std::uint64_t>(wanted, allowed); ++i) {
        std::unique_ptr<CudaSlot> slot;
        status = CudaSlot::open(m_runtime, device.number, slot);
        if (slot)
            added.free.push_back(std::move(slot));
    }
    if (added.free.empty())
        return status.ok() ? "too little free memory" : "cannot be started: " + status.text;
    if (std::string reason = arithmeticFaults(*added.free.front()); !reason.empty())
        return reason;
    added.slots = added.free.size();
    const std::lock_guard lock(m_mutex);
    m_devices.push_back(std::move(added));
    return {};
}

std::unique_ptr<CudaSlot> SlotPool::take()
{
    const std::lock_guard lock(m_mutex);
    const auto best = std::ranges::max_element(
        m_devices, {}, [](const Device &device) { return device.free.size(); });
    if (best == m_devices.end() || best->free.empty())
        return nullptr;
    std::unique_ptr<CudaSlot> slot = std::move(best->free.back());
    best->free.pop_back();
    return slot;
}

void SlotPool::giveBack(std::unique_ptr<CudaSlot> slot, const CudaStatus &status)
{
    std::vector<std::unique_ptr<CudaSlot>> closing; // after the lock: a device may take its time
    const std::lock_guard lock(m_mutex);
    Device &device = deviceOf(*slot);
    if (status.ok()) {
        ++device.done;
    } else {
        ++device.failed;
        if (device.fault.empty())
            device.fault = status.text;
        device.lost |= status.fault != CudaFault::OutOfMemory || device.slots == 1;
    }
    if (status.ok() && !device.lost) {
        device.free.push_back(std::move(slot));
        return;
    }
    closing.push_back(std::move(slot));
    --device.slots;
    if (!device.lost)
        return;
    device.slots -= device.free.size();
    std::ranges::move(device.free, std::back_inserter(closing));
    device.free.clear();
}

SlotPool::Device &SlotPool::deviceOf(const CudaSlot &slot)
{
    return *std::ranges::find(m_devices, slot.device(),
                              [](const Device &device) { return device.device.number; });
}

std::size_t SlotPool::slots() const
{
    const std::lock_guard lock(m_mutex);
    std::size_t sum = 0;
    for (const Device &device : m_devices)
        sum += device.slots;
    return sum;
}

std::string SlotPool::inUse() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::pair<std::string, std::string>> groups; // kind, and which ones
    for (const Device &device : m_devices) {
        if (device.lost)
            continue;
        const std::string &kind = device.device.properties.name;
        if (groups.empty() || groups.back().first != kind)
            groups.emplace_back(kind, device.device.name());
        else
            groups.back().second += ", " + device.device.name();
    }
    std::string text;
    for (const auto &[kind, names] : groups)
        text += (text.empty() ? "" : ", ") + kind + " (" + names + ")";
    return text;
}

std::string SlotPool::lost() const
{
    const std::lock_guard lock(m_mutex);
    std::string text;
    for (const Device &device : m_devices) {
        if (device.lost)
            text += (text.empty() ? "" : ", ") + device.device.name() + " was lost";
    }
    return text;
}

std::vector<std::string> SlotPool::incidents() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::string> lines;
    for (const Device &device : m_devices) {
        if (device.failed == 0)
            continue;
        lines.push_back(device.device.name() + ": " + device.fault + "; "
                        + std::to_string(device.failed)
                        + (device.failed == 1 ? " piece was" : " pieces were")
                        + " computed by the processor instead, with the same result"
                        + (device.lost ? ", and the device is not used any more" : ""));
    }
    return lines;
}

std::uint64_t SlotPool::piecesDone() const
{
    const std::lock_guard lock(m_mutex);
    std::uint64_t sum = 0;
    for (const Device &device : m_devices)
        sum += device.done;
    return sum;
}

} // namespace forkpoint
