// SPDX-License-Identifier: GPL-3.0-or-later
// Rates of the GPUs that are here: bench_cuda [cuda[:N]] [THREADS]. Prints one JSON object a line:
// first what is copied to the device from pinned memory, then type by type the kernels alone, on
// bytes that lie on the device, and the whole way from pinned memory to statistics and both
// fingerprints, by THREADS threads, beside the processor's kernels by as many. GB/s of both sides.
// Where nothing can be measured it says why and prints no figure. Not a test: nothing passes or
// fails.
#include "gpu/backend_registry.h"
#include "gpu/cpu_backend.h"
#include "gpu/cuda_handle.h"
#include "gpu/cuda_slot.h"
#include "gpu/device_rate.h"
#include "gpu/part_type.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace forkpoint;

namespace {

constexpr int Rounds = 200; ///< of 4 MiB a side
constexpr std::size_t SideBytes = CudaSlot::SideBytes;
constexpr const char *Types[] = {"float32",       "bfloat16", "float16",
                                 "float8_e4m3fn", "float64",  "int8"};
constexpr std::pair<MadeUp, const char *> Kinds[] = {
    {MadeUp::Equal, "identical"}, {MadeUp::Few, "0.3 %"}, {MadeUp::Near, "100 %"}};

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double gigabytes(double bytes, double seconds)
{
    return bytes / 1e9 / seconds;
}

/// What one kernel needs, on the device.
struct Resident
{
    const CudaRuntime &runtime = cudaRuntime();
    CudaHandle stream, a, b, answer, pinned;

    CudaStatus open(int device)
    {
        FP_CUDA_TRY(runtime.select(device));
        FP_CUDA_TRY(
            stream.make(runtime, device, &CudaRuntime::destroyStream, runtime.createStream));
        for (CudaHandle *memory : {&a, &b, &answer})
            FP_CUDA_TRY(memory->make(runtime, device, &CudaRuntime::release, [&](void *&made) {
                return runtime.allocate(made, SideBytes);
            }));
        return pinned.make(runtime, device, &CudaRuntime::releasePinned,
                           [&](void *&made) { return runtime.allocatePinned(made, SideBytes); });
    }

    CudaStatus copy(const CudaHandle &to, const std::vector<std::byte> &from)
    {
        std::memcpy(pinned.get(), from.data(), SideBytes);
        FP_CUDA_TRY(runtime.copyToDevice(to.get(), pinned.get(), SideBytes, stream.get()));
        return runtime.waitStream(stream.get());
    }

    /// Seconds of Rounds calls of `launch` that wait for nothing; 0 after a failure.
    template <class Launch>
    double seconds(const Launch &launch)
    {
        double start = 0.0;
        for (int i = -1; i < Rounds; ++i) { // the first one warms up
            if (!launch().ok() || (i == -1 && !runtime.waitStream(stream.get()).ok()))
                return 0.0;
            if (i == -1)
                start = now();
        }
        return runtime.waitStream(stream.get()).ok() ? now() - start : 0.0;
    }
};

double copyRate(Resident &resident)
{
    const double seconds = resident.seconds([&] {
        return resident.runtime.copyToDevice(resident.a.get(), resident.pinned.get(), SideBytes,
                                             resident.stream.get());
    });
    return gigabytes(double(Rounds) * SideBytes, seconds);
}

double hashRate(Resident &resident)
{
    kernels::LeafWork work;
    work.data = resident.a.as<std::uint8_t>();
    work.leaves = SideBytes / LeafBytes;
    work.hashes = resident.answer.as<kernels::Hash128>();
    work.done = resident.answer.as<std::uint64_t>() + SideBytes / 16;
    const double seconds = resident.seconds(
        [&] { return resident.runtime.launchLeaves(work, resident.stream.get()); });
    return gigabytes(double(Rounds) * SideBytes, seconds);
}

/// The statistics of what lies in a and b.
double diffRate(Resident &resident, const DType &dtype)
{
    const kernels::PartType type = *partType(dtype);
    kernels::DiffWork work;
    work.piece = {resident.a.as<std::uint8_t>(),
                  resident.b.as<std::uint8_t>(),
                  SideBytes * 8 / std::uint64_t(type.bits),
                  0,
                  type.bits,
                  1};
    work.magnitudes = false;
    kernels::withPolicy(
        type, [&](const auto &policy) { work.layout = kernels::counterLayout(policy, type.bits); });
    work.counters = resident.answer.as<std::uint64_t>();
    work.records = reinterpret_cast<kernels::DiffRecord *>(work.counters + work.layout.size());
    work.sums = reinterpret_cast<kernels::BlockSums *>(work.records + work.piece.blocks());
    const double seconds = resident.seconds(
        [&] { return resident.runtime.launchDiff(type, work, resident.stream.get()); });
    return gigabytes(double(Rounds) * 2 * SideBytes, seconds);
}

/// Statistics and fingerprints of one pair, by several threads.
double wholeRate(const ComputeBackend &backend, const DType &dtype, MadeUp kind,
                 std::size_t threads)
{
    return measureRate(backend, threads, dtype, kind) / 1e9;
}

int refuse(const std::string &reason)
{
    std::fprintf(stderr, "bench_cuda: nothing measured: %s\n", reason.c_str());
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    const std::string name = count > 1 ? arguments[1] : "cuda:0";
    const std::size_t threads = count > 2
        ? std::max<std::size_t>(std::strtoul(arguments[2], nullptr, 10), 1)
        : std::max(1U, std::thread::hardware_concurrency());
    const auto chosen = chooseDevice({name, threads, true});
    if (!chosen)
        return refuse(chosen.error().message());
    Resident resident;
    const int device = name.starts_with("cuda:") ? std::atoi(name.c_str() + 5) : 0;
    if (const CudaStatus status = resident.open(device); !status.ok())
        return refuse(status.text);
    std::printf("{\"device\": \"%s\", \"threads\": %zu, \"copy\": %.2f, \"leaf_hash\": %.2f}\n",
                chosen->backend->description().c_str(), threads, copyRate(resident),
                hashRate(resident));
    for (const char *type : Types) {
        const DType dtype = *dtypeByName(type);
        for (const auto &[kind, data] : Kinds) {
            const MadeUpPair pair = makeUp(dtype, SideBytes * 8 / dtype.bits, kind, 1);
            if (!resident.copy(resident.a, pair.a).ok() || !resident.copy(resident.b, pair.b).ok())
                return refuse("the device failed");
            std::printf("{\"type\": \"%s\", \"data\": \"%s\", \"kernel\": %.2f, \"whole\": %.2f, "
                        "\"cpu\": %.2f}\n",
                        type, data, diffRate(resident, dtype),
                        wholeRate(*chosen->backend, dtype, kind,
                                  threads + chosen->backend->waitingThreads()),
                        wholeRate(CpuBackend(), dtype, kind, threads));
        }
    }
    for (const std::string &incident : chosen->backend->incidents())
        std::fprintf(stderr, "bench_cuda: not to be trusted: %s\n", incident.c_str());
    return 0;
}
