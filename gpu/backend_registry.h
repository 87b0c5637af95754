// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"
#include "model/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

struct CudaRuntime;

/// The CUDA runtime of this build, or what stands for it where there is none; see cuda_runtime.h.
const CudaRuntime &cudaRuntime();

/// A device that could compare, and why it cannot where it cannot.
struct DeviceInfo
{
    std::string name; ///< what --device takes: "cpu", "cuda:0"
    std::string kind; ///< "CPU, scalar"
    std::string reason;
    bool available = false;
};

std::vector<DeviceInfo> listDevices(const CudaRuntime &runtime = cudaRuntime());

struct DeviceRequest
{
    std::string_view name = "auto"; ///< "auto", "cpu", "cuda" (all of them) or "cuda:N"
    std::size_t threads = 0;        ///< that will compare; 0: as many as the hardware runs at once
    bool smallPieces = false;       ///< a device gets all pieces, also those it is too slow for
};

struct ChosenDevice
{
    std::unique_ptr<ComputeBackend> backend;
    std::string reason; ///< why "auto" chose it; empty where there was nothing to choose from
};

/// Unsupported for a device that cannot be used, with the reason, and Usage for a name that is none
/// of these. "auto" measures the processor and the devices it finds, the copying included, for some
/// tenths of a second, and takes what is faster here and now; results do not depend on it.
Result<ChosenDevice> chooseDevice(const DeviceRequest &request,
                                  const CudaRuntime &runtime = cudaRuntime());

/// The same for those who need no reasons.
Result<std::unique_ptr<ComputeBackend>> makeBackend(std::string_view name);

} // namespace forkpoint
