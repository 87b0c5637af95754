// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/backend_registry.h"

#include "gpu/cuda_backend.h"
#include "gpu/device_rate.h"
#include "gpu/kernels/arithmetic_probe.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <thread>

namespace forkpoint {

namespace {

/// What a name of --device asks for.
struct ParsedName
{
    bool automatic = false, cpu = false;
    std::optional<int> number; ///< cuda:N
};

std::optional<ParsedName> parseName(std::string_view name)
{
    ParsedName parsed{name == "auto", name == "cpu", {}};
    if (parsed.automatic || parsed.cpu || name == "cuda")
        return parsed;
    constexpr std::string_view Prefix = "cuda:";
    if (!name.starts_with(Prefix))
        return std::nullopt;
    name.remove_prefix(Prefix.size());
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number < 0)
        return std::nullopt;
    parsed.number = number;
    return parsed;
}

Error refusal(std::string_view name, ErrorCode code, std::string text)
{
    return {code, {}, "device '" + std::string(name) + "'", std::move(text)};
}

/// What a library that this program uses may have done to the processor's modes.
Status checkProcessor()
{
    const volatile kernels::ProbeOperands operands{};
    const unsigned faults = kernels::probeArithmetic(operands);
    if (faults == 0)
        return {};
    return refusal("cpu", ErrorCode::Unsupported,
                   faults & (kernels::FlushesResults | kernels::FlushesOperands)
                       ? "this process flushes subnormal numbers to zero"
                       : "the arithmetic of this process rounds otherwise than IEEE 754 does");
}

ChosenDevice processor(std::string reason)
{
    return {std::make_unique<CpuBackend>(), std::move(reason)};
}

std::vector<CudaDevice> usable(const std::vector<CudaDevice> &devices)
{
    std::vector<CudaDevice> result;
    std::ranges::copy_if(devices, std::back_inserter(result),
                         [](const CudaDevice &device) { return device.reason.empty(); });
    return result;
}

std::string reasonsOf(const std::vector<CudaDevice> &devices)
{
    std::string text;
    for (const CudaDevice &device : devices)
        text += (text.empty() ? "" : "; ") + device.name() + ": " + device.reason;
    return text;
}

std::string gigabytes(double rate)
{
    char text[32] = {};
    std::snprintf(text, sizeof text, "%.1f GB/s", rate / 1e9);
    return text;
}

CudaOptions optionsOf(const DeviceRequest &request)
{
    CudaOptions options;
    if (request.smallPieces)
        options.leastBytes = 0;
    return options;
}

ChosenDevice chooseByRate(const DeviceRequest &request, const CudaRuntime &runtime)
{
    const CudaDevices found = findCudaDevices(runtime);
    if (found.devices.empty())
        return processor({});
    const std::vector<CudaDevice> candidates = usable(found.devices);
    if (candidates.empty())
        return processor("no GPU can be used: " + reasonsOf(found.devices));
    auto opened = CudaBackend::open(runtime, candidates, optionsOf(request));
    if (!opened)
        return processor("no GPU can be used: " + opened.error().message());
    std::unique_ptr<CudaBackend> cuda = std::move(opened).value();
    const std::size_t threads = request.threads != 0
        ? request.threads
        : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    const std::size_t waiting = request.threads != 0 ? 0 : cuda->waitingThreads();
    const DType dtype = *dtypeByName("bfloat16");
    const double rates[2] = {measureRate(CpuBackend(), threads, dtype, MadeUp::Near),
                             measureRate(*cuda, threads + waiting, dtype, MadeUp::Near)};
    if (const auto incidents = cuda->incidents(); !incidents.empty())
        return processor(incidents.front());
    const bool faster = rates[1] > rates[0];
    const std::string reason = "bfloat16 that differs: " + gigabytes(rates[1]) + " with "
        + (candidates.size() == 1 ? candidates.front().name() : "the GPUs")
        + ", the copying included, " + gigabytes(rates[0]) + " with the processor alone";
    if (!faster)
        return processor(reason);
    return {std::move(cuda), reason};
}

} // namespace

std::vector<DeviceInfo> listDevices(const CudaRuntime &runtime)
{
    const Status processorStatus = checkProcessor();
    std::vector<DeviceInfo> list{{"cpu", CpuBackend().description(),
                                  processorStatus ? "" : processorStatus.error().text,
                                  processorStatus.ok()}};
    const CudaDevices found = findCudaDevices(runtime);
    if (found.devices.empty())
        list.push_back({"cuda", "NVIDIA GPU", found.reason, false});
    for (const CudaDevice &device : found.devices)
        list.push_back({device.name(), device.description(), device.reason, device.reason.empty()});
    return list;
}

Result<ChosenDevice> chooseDevice(const DeviceRequest &request, const CudaRuntime &runtime)
{
    const std::optional<ParsedName> name = parseName(request.name);
    if (!name)
        return refusal(request.name, ErrorCode::Usage, "expected auto, cpu, cuda or cuda:N");
    FP_CHECK(checkProcessor()); // it has a part in whatever is computed
    if (name->cpu)
        return processor({});
    if (name->automatic)
        return chooseByRate(request, runtime);
    CudaDevices found = findCudaDevices(runtime);
    if (found.devices.empty())
        return refusal(request.name, ErrorCode::Unsupported, found.reason);
    if (name->number) {
        if (std::size_t(*name->number) >= found.devices.size())
            return refusal(request.name, ErrorCode::Unsupported,
                           "the last one here is " + found.devices.back().name());
        found.devices = {found.devices[std::size_t(*name->number)]};
    }
    auto opened = CudaBackend::open(runtime, found.devices, optionsOf(request));
    if (!opened)
        return refusal(request.name, ErrorCode::Unsupported, opened.error().text);
    return ChosenDevice{std::move(opened).value(), {}};
}

Result<std::unique_ptr<ComputeBackend>> makeBackend(std::string_view name)
{
    FP_TRY(ChosenDevice chosen, chooseDevice({name, 0, false}));
    return std::move(chosen.backend);
}

} // namespace forkpoint
