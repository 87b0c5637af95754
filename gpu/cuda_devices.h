// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cuda_runtime.h"

#include <string>
#include <vector>

namespace forkpoint {

/// A device of CUDA, by its number, and why it cannot be used where it cannot.
struct CudaDevice
{
    int number = 0;
    CudaProperties properties;
    std::string reason; ///< empty: it can

    std::string name() const { return "cuda:" + std::to_string(number); }
    /// "NVIDIA H200, compute capability 9.0, 139 GiB".
    std::string description() const;
};

struct CudaDevices
{
    std::vector<CudaDevice> devices;
    std::string reason; ///< why there are none: no driver, too old a driver, no device
};

/// Asks the driver. Starts nothing on a device.
CudaDevices findCudaDevices(const CudaRuntime &runtime);

} // namespace forkpoint
