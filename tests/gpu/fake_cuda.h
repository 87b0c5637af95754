// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cuda_runtime.h"
#include "gpu/kernels/arithmetic_probe.h"
#include "tests/gpu/emulated_team.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace forkpoint {

/// A CUDA runtime with devices of its own: memory of the host, and kernels on emulated warps in
/// shuffled order. Work is done when it is waited for, not before, memory holds nonsense until it is
/// written, every handle belongs to its device, and any call can be made to fail.
class FakeCuda
{
public:
    struct Settings
    {
        int devices = 1;
        std::uint64_t freeMemory = 1U << 30; ///< of each device
        int driver = 13000;
        int major = 9, minor = 0;
        unsigned arithmeticFaults = 0;
    };

    FakeCuda() : FakeCuda(Settings()) {}
    explicit FakeCuda(const Settings &settings)
        : m_settings(settings),
          m_devices(std::size_t(settings.devices))
    {
    }

    CudaRuntime table();

    // --- faults: calls are counted from 0, those that give back apart
    /// The call fails; after Failed its device is lost.
    void failAt(std::uint64_t call, CudaFault fault)
    {
        m_failing = call;
        m_fault = fault;
    }
    /// The call seems to succeed, does nothing, and the next wait of its device ends with a failure.
    void failLateAt(std::uint64_t call)
    {
        failAt(call, CudaFault::Failed);
        m_late = true;
    }
    /// A kernel that never runs, and nobody says so.
    void swallowLaunch(std::uint64_t launch) { m_swallowed = launch; }
    void lose(int device)
    {
        const Lock lock(m_mutex);
        m_devices[std::size_t(device)].lost = true;
    }

    std::uint64_t calls() const { return m_calls; }
    std::uint64_t launches() const { return m_launches; }
    std::uint64_t liveHandles() const
    {
        return m_memory.size() + m_streams.size() + m_events.size();
    }
    std::uint64_t mostDeviceMemory() const { return m_most; }
    std::uint64_t pinnedBuffers() const { return m_pinned; }

private:
    static constexpr std::uint64_t Never = ~std::uint64_t(0);

    struct Device
    {
        bool lost = false, failsLate = false;
        std::uint64_t used = 0;
    };
    struct Memory
    {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size = 0;
        int device = -1; ///< -1: pinned
    };
    struct Stream
    {
        int device = 0;
        std::vector<std::function<void()>> work;
    };
    struct Event
    {
        int device = 0;
        Stream *stream = nullptr;
    };
    using Lock = std::lock_guard<std::recursive_mutex>;

    static CudaStatus failure(const char *text) { return {CudaFault::Failed, text}; }
    Device &selected() { return m_devices[std::size_t(s_device)]; }

    /// A call on the selected device: counted, and failing when it is its turn.
    template <class Do>
    CudaStatus call(const Do &action)
    {
        const Lock lock(m_mutex);
        const bool mine = m_calls++ == m_failing;
        if (mine && m_late) {
            selected().failsLate = true;
            return {};
        }
        if (mine) {
            selected().lost |= m_fault == CudaFault::Failed;
            return {m_fault,
                    m_fault == CudaFault::OutOfMemory ? "out of memory"
                                                      : "the device fell off the bus"};
        }
        return selected().lost ? failure("the device fell off the bus") : action();
    }
    template <class Do>
    CudaStatus onStream(CudaStream handle, Do work)
    {
        return call([&]() -> CudaStatus {
            Stream *stream = static_cast<Stream *>(handle);
            if (!m_streams.contains(stream) || stream->device != s_device)
                return failure("no stream of the selected device");
            stream->work.push_back(std::move(work));
            return {};
        });
    }
    template <class Do>
    CudaStatus launch(CudaStream stream, Do work)
    {
        const Lock lock(m_mutex);
        if (m_launches++ == m_swallowed)
            return onStream(stream, [] {});
        return onStream(stream, std::move(work));
    }

    /// Whether the bytes are memory of that device (-1: pinned).
    bool owns(const void *address, std::size_t size, int device) const
    {
        auto next = m_memory.upper_bound(static_cast<const std::byte *>(address));
        if (next == m_memory.begin())
            return false;
        const auto &[start, memory] = *--next;
        return memory.device == device
            && std::size_t(static_cast<const std::byte *>(address) - start) + size <= memory.size;
    }

    CudaStatus allocate(void *&address, std::size_t size, int device);
    CudaStatus release(void *address, int device);
    CudaStatus wait(Stream *stream);
    void fillMemory(CudaRuntime &table);
    void fillStreams(CudaRuntime &table);
    void fillWork(CudaRuntime &table);
    void runDiff(const kernels::PartType &type, const kernels::DiffWork &work);
    void runLeaves(const kernels::LeafWork &work);
    std::vector<std::uint64_t> shuffled(std::uint64_t count);

    static inline thread_local int s_device = 0;

    const Settings m_settings;
    std::recursive_mutex m_mutex;
    std::vector<Device> m_devices;
    std::map<const std::byte *, Memory> m_memory;
    std::map<Stream *, std::unique_ptr<Stream>> m_streams;
    std::map<Event *, std::unique_ptr<Event>> m_events;
    std::mt19937_64 m_random{7};
    std::uint64_t m_calls = 0, m_launches = 0, m_failing = Never, m_swallowed = Never;
    CudaFault m_fault = CudaFault::None;
    bool m_late = false;
    std::uint64_t m_most = 0, m_pinned = 0;
};

inline CudaRuntime FakeCuda::table()
{
    CudaRuntime table;
    table.architectures = {75, 80, 90};
    table.version = 13000;
    table.driverVersion = [this](int &version) {
        version = m_settings.driver;
        return CudaStatus();
    };
    table.deviceCount = [this](int &count) {
        count = m_settings.devices;
        return count == 0 ? CudaStatus{CudaFault::NoDevice, "no device"} : CudaStatus();
    };
    table.properties = [this](int, CudaProperties &properties) {
        properties = {"Fake GPU", m_settings.major, m_settings.minor, std::uint64_t(16) << 30};
        return CudaStatus();
    };
    table.select = [this](int device) {
        s_device = device;
        return call([] { return CudaStatus(); });
    };
    fillMemory(table);
    fillStreams(table);
    fillWork(table);
    return table;
}

inline CudaStatus FakeCuda::allocate(void *&address, std::size_t size, int device)
{
    return call([&]() -> CudaStatus {
        if (device >= 0 && selected().used + size > m_settings.freeMemory)
            return {CudaFault::OutOfMemory, "out of memory"};
        Memory memory{std::unique_ptr<std::byte[]>(new std::byte[size]), size, device};
        std::memset(memory.bytes.get(), 0xA5, std::min(size, std::size_t(1) << 18));
        address = memory.bytes.get();
        m_memory[memory.bytes.get()] = std::move(memory);
        if (device >= 0)
            m_most = std::max(m_most, selected().used += size);
        else
            ++m_pinned;
        return {};
    });
}

inline CudaStatus FakeCuda::release(void *address, int device)
{
    const Lock lock(m_mutex);
    const auto found = m_memory.find(static_cast<const std::byte *>(address));
    if (found == m_memory.end() || found->second.device != device)
        qFatal("memory is given back where it does not belong");
    if (device >= 0)
        selected().used -= found->second.size;
    m_memory.erase(found);
    return {};
}

inline void FakeCuda::fillMemory(CudaRuntime &table)
{
    table.freeMemory = [this](std::uint64_t &bytes) {
        return call([&] {
            bytes = m_settings.freeMemory - selected().used;
            return CudaStatus();
        });
    };
    table.allocate = [this](void *&address, std::size_t size) {
        return allocate(address, size, s_device);
    };
    table.allocatePinned = [this](void *&address, std::size_t size) {
        return allocate(address, size, -1);
    };
    table.release = [this](void *address) { return release(address, s_device); };
    table.releasePinned = [this](void *address) { return release(address, -1); };
}

/// Does what was asked of the stream so far, unless its device is lost meanwhile.
inline CudaStatus FakeCuda::wait(Stream *stream)
{
    const auto work = stream != nullptr ? std::exchange(stream->work, {})
                                        : std::vector<std::function<void()>>(); // never recorded
    if (selected().failsLate)
        selected().lost = true;
    if (selected().lost)
        return failure("an illegal memory access was encountered");
    for (const auto &step : work)
        step();
    return {};
}

inline void FakeCuda::fillStreams(CudaRuntime &table)
{
    table.createStream = [this](CudaStream &handle) {
        return call([&] {
            auto made = std::make_unique<Stream>();
            made->device = s_device;
            handle = made.get();
            m_streams[made.get()] = std::move(made);
            return CudaStatus();
        });
    };
    table.createEvent = [this](CudaEvent &handle) {
        return call([&] {
            auto made = std::make_unique<Event>();
            made->device = s_device;
            handle = made.get();
            m_events[made.get()] = std::move(made);
            return CudaStatus();
        });
    };
    table.destroyStream = [this](CudaStream stream) {
        const Lock lock(m_mutex);
        m_streams.erase(static_cast<Stream *>(stream));
        return CudaStatus();
    };
    table.destroyEvent = [this](CudaEvent event) {
        const Lock lock(m_mutex);
        m_events.erase(static_cast<Event *>(event));
        return CudaStatus();
    };
    table.recordEvent = [this](CudaEvent event, CudaStream stream) {
        return call([&] {
            static_cast<Event *>(event)->stream = static_cast<Stream *>(stream);
            return CudaStatus();
        });
    };
    table.waitEvent = [this](CudaEvent event) {
        return call([&] { return wait(static_cast<Event *>(event)->stream); });
    };
    table.waitStream = [this](CudaStream stream) {
        return call([&] { return wait(static_cast<Stream *>(stream)); });
    };
}

inline void FakeCuda::fillWork(CudaRuntime &table)
{
    table.copyToDevice = [this](void *to, const void *from, std::size_t size, CudaStream stream) {
        return onStream(stream, [this, to, from, size, device = s_device] {
            if (!owns(to, size, device))
                qFatal("a copy to memory that is not the device's");
            std::memcpy(to, from, size);
        });
    };
    table.copyToHost = [this](void *to, const void *from, std::size_t size, CudaStream stream) {
        return onStream(stream, [this, to, from, size, device = s_device] {
            if (!owns(from, size, device) || !owns(to, size, -1))
                qFatal("a copy from memory that is not the device's, or not to pinned memory");
            std::memcpy(to, from, size);
        });
    };
    table.clear = [this](void *to, std::size_t size, CudaStream stream) {
        return onStream(stream, [this, to, size, device = s_device] {
            if (!owns(to, size, device))
                qFatal("memory is cleared that is not the device's");
            std::memset(to, 0, size);
        });
    };
    table.launchDiff = [this](const kernels::PartType &type, const kernels::DiffWork &work,
                              CudaStream stream) {
        return launch(stream, [this, type, work] { runDiff(type, work); });
    };
    table.launchLeaves = [this](const kernels::LeafWork &work, CudaStream stream) {
        return launch(stream, [this, work] { runLeaves(work); });
    };
    table.launchProbe = [this](std::uint64_t *faults, CudaStream stream) {
        return launch(stream, [this, faults] {
            const volatile kernels::ProbeOperands operands{};
            *faults = kernels::probeArithmetic(operands) | m_settings.arithmeticFaults;
        });
    };
}

inline std::vector<std::uint64_t> FakeCuda::shuffled(std::uint64_t count)
{
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), std::uint64_t(0));
    std::shuffle(order.begin(), order.end(), m_random);
    return order;
}

inline void FakeCuda::runDiff(const kernels::PartType &type, const kernels::DiffWork &work)
{
    kernels::withPolicy(type, [&](const auto &policy) {
        for (const std::uint64_t block : shuffled(work.piece.blocks())) {
            emulated::Team team(m_random);
            kernels::diffBlock(team, policy, work, block);
        }
    });
}

inline void FakeCuda::runLeaves(const kernels::LeafWork &work)
{
    for (const std::uint64_t leaf : shuffled(work.leaves)) {
        emulated::HashTeam team(m_random);
        kernels::hashLeaf(team, work, leaf);
    }
}

} // namespace forkpoint
