// SPDX-License-Identifier: GPL-3.0-or-later
// The table of the CUDA runtime, which is linked statically: it looks for a driver when it is
// called, so that the program starts where there is none.
#include "gpu/cuda_kernels.h"
#include "gpu/cuda_runtime.h"

#include <cuda_runtime_api.h>

namespace forkpoint {

namespace {

CudaFault faultOf(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return CudaFault::None;
    case cudaErrorMemoryAllocation: return CudaFault::OutOfMemory;
    case cudaErrorInsufficientDriver: return CudaFault::NoDriver;
    case cudaErrorNoDevice: return CudaFault::NoDevice;
    default: return CudaFault::Failed;
    }
}

CudaStatus statusOf(cudaError_t error)
{
    if (error == cudaSuccess)
        return {};
    cudaGetLastError(); // what is told here is not to be told again by the next launch
    return {faultOf(error), cudaGetErrorString(error)};
}

CudaStatus statusOf(int error)
{
    return statusOf(static_cast<cudaError_t>(error));
}

cudaStream_t stream(CudaStream handle)
{
    return static_cast<cudaStream_t>(handle);
}

cudaEvent_t event(CudaEvent handle)
{
    return static_cast<cudaEvent_t>(handle);
}

CudaStatus readProperties(int device, CudaProperties &found)
{
    cudaDeviceProp properties{};
    const CudaStatus status = statusOf(cudaGetDeviceProperties(&properties, device));
    if (status.ok())
        found = {properties.name, properties.major, properties.minor, properties.totalGlobalMem};
    return status;
}

CudaStatus readFreeMemory(std::uint64_t &bytes)
{
    std::size_t available = 0, total = 0;
    const CudaStatus status = statusOf(cudaMemGetInfo(&available, &total));
    bytes = available;
    return status;
}

CudaStatus createStream(CudaStream &handle)
{
    cudaStream_t made = nullptr;
    const CudaStatus status = statusOf(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    handle = made;
    return status;
}

CudaStatus createEvent(CudaEvent &handle)
{
    cudaEvent_t made = nullptr;
    const CudaStatus status =
        statusOf(cudaEventCreateWithFlags(&made, cudaEventBlockingSync | cudaEventDisableTiming));
    handle = made;
    return status;
}

void fillMemory(CudaRuntime &table)
{
    table.freeMemory = readFreeMemory;
    table.allocate = [](void *&memory, std::size_t size) {
        return statusOf(cudaMalloc(&memory, size));
    };
    table.allocatePinned = [](void *&memory, std::size_t size) {
        return statusOf(cudaHostAlloc(&memory, size, cudaHostAllocPortable));
    };
    table.release = [](void *memory) { return statusOf(cudaFree(memory)); };
    table.releasePinned = [](void *memory) { return statusOf(cudaFreeHost(memory)); };
}

void fillStreams(CudaRuntime &table)
{
    table.createStream = createStream;
    table.destroyStream = [](CudaStream s) { return statusOf(cudaStreamDestroy(stream(s))); };
    table.waitStream = [](CudaStream s) { return statusOf(cudaStreamSynchronize(stream(s))); };
    table.createEvent = createEvent;
    table.destroyEvent = [](CudaEvent e) { return statusOf(cudaEventDestroy(event(e))); };
    table.waitEvent = [](CudaEvent e) { return statusOf(cudaEventSynchronize(event(e))); };
    table.recordEvent = [](CudaEvent e, CudaStream s) {
        return statusOf(cudaEventRecord(event(e), stream(s)));
    };
}

void fillWork(CudaRuntime &table)
{
    table.copyToDevice = [](void *to, const void *from, std::size_t size, CudaStream s) {
        return statusOf(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, stream(s)));
    };
    table.copyToHost = [](void *to, const void *from, std::size_t size, CudaStream s) {
        return statusOf(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, stream(s)));
    };
    table.clear = [](void *memory, std::size_t size, CudaStream s) {
        return statusOf(cudaMemsetAsync(memory, 0, size, stream(s)));
    };
    table.launchDiff = [](const kernels::PartType &type, const kernels::DiffWork &work,
                          CudaStream s) { return statusOf(cuda::launchDiff(type, work, s)); };
    table.launchLeaves = [](const kernels::LeafWork &work, CudaStream s) {
        return statusOf(cuda::launchLeaves(work, s));
    };
    table.launchProbe = [](std::uint64_t *faults, CudaStream s) {
        return statusOf(cuda::launchProbe(faults, s));
    };
}

CudaRuntime makeTable()
{
    CudaRuntime table;
    table.architectures = {FORKPOINT_CUDA_REAL};
    table.translatedFrom = FORKPOINT_CUDA_VIRTUAL;
    table.version = CUDART_VERSION;
    table.driverVersion = [](int &version) { return statusOf(cudaDriverGetVersion(&version)); };
    table.deviceCount = [](int &count) { return statusOf(cudaGetDeviceCount(&count)); };
    table.properties = readProperties;
    table.select = [](int device) { return statusOf(cudaSetDevice(device)); };
    fillMemory(table);
    fillStreams(table);
    fillWork(table);
    return table;
}

} // namespace

const CudaRuntime &cudaRuntime()
{
    static const CudaRuntime Table = makeTable();
    return Table;
}

} // namespace forkpoint
