// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"
#include "model/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A device that could compare, and why it cannot where it cannot.
struct DeviceInfo
{
    std::string name; ///< what --device takes: "cpu", "cuda"
    std::string kind; ///< "CPU, scalar"
    std::string reason;
    bool available = false;
};

std::vector<DeviceInfo> listDevices();

/// "auto", "cpu", "cuda" or "cuda:N". Unsupported for a device that this build cannot use, Usage
/// for a name that is none of these.
Result<std::unique_ptr<ComputeBackend>> makeBackend(std::string_view name);

} // namespace forkpoint
