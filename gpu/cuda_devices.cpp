// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cuda_devices.h"

#include <algorithm>

namespace forkpoint {

namespace {

std::string versionText(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string capabilityText(int capability)
{
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// Code for x.y runs on x.z with z >= y; from what can be translated, everything newer.
std::string unsupported(const CudaRuntime &runtime, const CudaProperties &device)
{
    const int capability = 10 * device.major + device.minor;
    const auto runs = [&](int built) { return built / 10 == device.major && built <= capability; };
    if (std::ranges::any_of(runtime.architectures, runs)
        || (runtime.translatedFrom != 0 && capability >= runtime.translatedFrom))
        return {};
    std::string built;
    for (const int architecture : runtime.architectures)
        built += (built.empty() ? "" : ", ") + capabilityText(architecture);
    return "compute capability " + capabilityText(capability) + "; this build has kernels for "
        + (built.empty() ? "none" : built) + (runtime.translatedFrom != 0 ? " and newer" : "");
}

std::string missingDriver(const CudaRuntime &runtime)
{
    int driver = 0;
    if (const CudaStatus status = runtime.driverVersion(driver); !status.ok())
        return "the driver did not answer: " + status.text;
    if (driver == 0)
        return "no NVIDIA driver is installed";
    // A runtime works with every driver of its major version, and with newer ones.
    if (driver / 1000 < runtime.version / 1000)
        return "the NVIDIA driver is too old: it supports CUDA " + versionText(driver)
            + ", this build needs " + std::to_string(runtime.version / 1000) + ".0";
    return {};
}

} // namespace

std::string CudaDevice::description() const
{
    if (properties.name.empty())
        return "NVIDIA GPU";
    return properties.name + ", compute capability " + std::to_string(properties.major) + "."
        + std::to_string(properties.minor) + ", " + std::to_string(properties.memory >> 30)
        + " GiB";
}

CudaDevices findCudaDevices(const CudaRuntime &runtime)
{
    CudaDevices found;
    found.reason = !runtime.absent.empty() ? runtime.absent : missingDriver(runtime);
    if (!found.reason.empty())
        return found;
    int count = 0;
    const CudaStatus status = runtime.deviceCount(count);
    if (status.fault == CudaFault::NoDevice || (status.ok() && count == 0))
        found.reason = "the driver finds no NVIDIA GPU";
    else if (!status.ok())
        found.reason = "the driver did not answer: " + status.text;
    for (int number = 0; status.ok() && number < count; ++number) {
        CudaDevice device{number, {}, {}};
        const CudaStatus told = runtime.properties(number, device.properties);
        device.reason =
            told.ok() ? unsupported(runtime, device.properties) : "did not answer: " + told.text;
        found.devices.push_back(std::move(device));
    }
    return found;
}

} // namespace forkpoint
