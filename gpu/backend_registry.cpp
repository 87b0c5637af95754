// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/backend_registry.h"

#include "gpu/cpu_backend.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::string_view NoCuda = "this version has no CUDA backend yet";

bool isCudaName(std::string_view name)
{
    if (!name.starts_with("cuda"))
        return false;
    name.remove_prefix(4);
    if (name.empty())
        return true;
    if (name.front() != ':')
        return false;
    name.remove_prefix(1);
    return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

std::vector<DeviceInfo> listDevices()
{
    return {{"cpu", CpuBackend().description(), {}, true},
            {"cuda", "NVIDIA GPU", std::string(NoCuda), false}};
}

Result<std::unique_ptr<ComputeBackend>> makeBackend(std::string_view name)
{
    if (name == "auto" || name == "cpu")
        return std::unique_ptr<ComputeBackend>(std::make_unique<CpuBackend>());
    if (isCudaName(name))
        return Error{
            ErrorCode::Unsupported, {}, "device '" + std::string(name) + "'", std::string(NoCuda)};
    return Error{ErrorCode::Usage,
                 {},
                 "device '" + std::string(name) + "'",
                 "expected auto, cpu, cuda or cuda:N"};
}

} // namespace forkpoint
