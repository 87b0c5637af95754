// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/device_work.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace forkpoint {

/// What a call of the CUDA runtime may end with, as far as it matters what to do then.
enum class CudaFault {
    None,
    OutOfMemory, ///< the device goes on, with less
    NoDriver,    ///< nothing of CUDA is installed, or too old a driver
    NoDevice,    ///< a driver, but no device
    Failed,      ///< anything else: the device is not to be trusted any more
};

struct CudaStatus
{
    CudaFault fault = CudaFault::None;
    std::string text{}; ///< the runtime's own words

    bool ok() const { return fault == CudaFault::None; }
};

struct CudaProperties
{
    std::string name;
    int major = 0, minor = 0; ///< compute capability
    std::uint64_t memory = 0;
};

using CudaStream = void *;
using CudaEvent = void *;

/// Every call of the CUDA runtime that this program makes, as a table, so that tests can put faults
/// and a device of their own in. The pointers mean what the functions of these names in the
/// runtime's manual do; work on a device is that of the thread's selected one.
struct CudaRuntime
{
    std::string absent{}; ///< why the table is empty: "built without CUDA"
    /// Compute capabilities (10 * major + minor) that the binary has code for, and the one from
    /// which on the driver can translate its own; 0: none.
    std::vector<int> architectures{};
    int translatedFrom = 0;
    int version = 0; ///< of the runtime: 1000 * major + 10 * minor

    std::function<CudaStatus(int &version)> driverVersion{}; ///< 0: no driver
    std::function<CudaStatus(int &count)> deviceCount{};
    std::function<CudaStatus(int device, CudaProperties &)> properties{};
    std::function<CudaStatus(int device)> select{};
    std::function<CudaStatus(std::uint64_t &free)> freeMemory{};

    std::function<CudaStatus(void *&, std::size_t)> allocate{}, allocatePinned{};
    std::function<CudaStatus(void *)> release{}, releasePinned{};
    std::function<CudaStatus(CudaStream &)> createStream{};
    std::function<CudaStatus(CudaStream)> destroyStream{}, waitStream{};
    std::function<CudaStatus(CudaEvent &)>
        createEvent{}; ///< whose waiting leaves the processor free
    std::function<CudaStatus(CudaEvent)> destroyEvent{}, waitEvent{};
    std::function<CudaStatus(CudaEvent, CudaStream)> recordEvent{};

    std::function<CudaStatus(void *to, const void *from, std::size_t, CudaStream)> copyToDevice{},
        copyToHost{};
    std::function<CudaStatus(void *, std::size_t, CudaStream)> clear{};
    std::function<CudaStatus(const kernels::PartType &, const kernels::DiffWork &, CudaStream)>
        launchDiff{};
    std::function<CudaStatus(const kernels::LeafWork &, CudaStream)> launchLeaves{};
    std::function<CudaStatus(std::uint64_t *faults, CudaStream)> launchProbe{};
};

/// The runtime that is linked into this build, or a table that says that there is none.
const CudaRuntime &cudaRuntime();

} // namespace forkpoint
