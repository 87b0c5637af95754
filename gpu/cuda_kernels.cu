// SPDX-License-Identifier: GPL-3.0-or-later
// The only device code: teams of a warp, and the launches. What a team does, gpu/kernels defines.
#include "gpu/cuda_kernels.h"
#include "gpu/kernels/arithmetic_probe.h"

namespace forkpoint::cuda {

namespace {

using namespace forkpoint::kernels;

constexpr unsigned AllLanes = ~0U;
/// Teams that share counters; leaves share nothing, and are few, so that they are spread.
constexpr int DiffTeams = 8;
constexpr int LeafTeams = 2;
constexpr int DiffThreads = DiffTeams * BlockLanes;
constexpr int LeafThreads = LeafTeams * BlockLanes;
/// Counters that a block of threads keeps near itself: what every device has without asking.
constexpr std::uint64_t NearCounters = 48 * 1024 / sizeof(unsigned);

/// The counters of a piece, added up first in the memory that a block of threads shares.
class NearCounts
{
public:
    __device__ NearCounts(unsigned *shared, const DiffWork &work)
        : m_shared(shared),
          m_far(work.counters),
          m_size(work.layout.size() <= NearCounters ? static_cast<unsigned>(work.layout.size()) : 0)
    {
    }

    __device__ void clear()
    {
        for (unsigned i = threadIdx.x; i < m_size; i += DiffThreads)
            m_shared[i] = 0;
        __syncthreads();
    }
    __device__ void count(std::uint64_t &bin)
    {
        if (m_size != 0)
            atomicAdd(m_shared + (&bin - m_far), 1U);
        else
            atomicAdd(reinterpret_cast<unsigned long long *>(&bin), 1ULL);
    }
    __device__ void flush()
    {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < m_size; i += DiffThreads) {
            if (const unsigned count = m_shared[i])
                atomicAdd(reinterpret_cast<unsigned long long *>(m_far + i), count);
        }
    }

private:
    unsigned *m_shared;
    std::uint64_t *m_far;
    unsigned m_size; ///< 0: too many of them
};

/// One thread of a warp: what a lane holds is in registers, combining is a butterfly of shuffles.
struct DeviceTeam
{
    struct Sum
    {
        double value = 0.0;
        __device__ double &operator[](int) { return value; }
    };
    struct Tally
    {
        std::uint64_t value = 0;
        __device__ std::uint64_t &operator[](int) { return value; }
    };
    struct Peak
    {
        std::uint64_t key = 0;
        std::uint64_t index = ~std::uint64_t(0);
        __device__ Peak &operator[](int) { return *this; }
    };

    NearCounts counts;

    __device__ static int lane() { return static_cast<int>(threadIdx.x % BlockLanes); }

    template <class Step>
    __device__ void sweep(int count, Step step)
    {
        for (int i = lane(); i < count; i += BlockLanes)
            step(i, lane());
    }
    __device__ double fold(Sum sum)
    {
        for (int half = BlockLanes / 2; half > 0; half /= 2)
            sum.value = add(sum.value, __shfl_down_sync(AllLanes, sum.value, half));
        return sum.value;
    }
    __device__ std::uint64_t total(const Tally &tally)
    {
        unsigned long long value = tally.value;
        for (int half = BlockLanes / 2; half > 0; half /= 2)
            value += __shfl_xor_sync(AllLanes, value, half);
        return value;
    }
    __device__ Peak best(const Peak &peak)
    {
        Peak result = peak;
        for (int half = BlockLanes / 2; half > 0; half /= 2) {
            const unsigned long long key = result.key;
            const unsigned long long index = result.index;
            offer(result, __shfl_xor_sync(AllLanes, key, half),
                  __shfl_xor_sync(AllLanes, index, half));
        }
        return result;
    }
    __device__ void count(std::uint64_t &bin) { counts.count(bin); }
    template <class Step>
    __device__ void once(Step step)
    {
        if (lane() == 0)
            step();
    }
};

/// A warp as four groups of the eight lanes of XXH3.
struct DeviceHashTeam
{
    static constexpr int Groups = BlockLanes / HashLanes;

    struct Accumulators
    {
        std::uint64_t value = 0;
        __device__ std::uint64_t &operator[](int) { return value; }
    };
    struct Parts
    {
        std::uint64_t value = 0;
        __device__ std::uint64_t &at(int, int) { return value; }
    };
    struct All
    {
        std::uint64_t values[HashLanes];
        __device__ std::uint64_t operator[](std::size_t lane) const { return values[lane]; }
    };

    template <class Step>
    __device__ void each(Step step)
    {
        step(static_cast<int>(threadIdx.x % HashLanes),
             static_cast<int>(threadIdx.x % BlockLanes / HashLanes));
    }
    __device__ void addParts(Accumulators &sums, const Parts &parts)
    {
        unsigned long long value = parts.value;
        for (int distance = HashLanes; distance < BlockLanes; distance *= 2)
            value += __shfl_xor_sync(AllLanes, value, distance);
        sums.value += value;
    }
    __device__ All gather(const Accumulators &sums)
    {
        All all{};
        for (int lane = 0; lane < HashLanes; ++lane) {
            const unsigned long long value = sums.value;
            all.values[lane] = __shfl_sync(AllLanes, value, lane, HashLanes);
        }
        return all;
    }
    __device__ void count(std::uint64_t &bin)
    {
        atomicAdd(reinterpret_cast<unsigned long long *>(&bin), 1ULL);
    }
    template <class Step>
    __device__ void once(Step step)
    {
        if (threadIdx.x % BlockLanes == 0)
            step();
    }
};

__device__ std::uint64_t teamNumber()
{
    return (static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / BlockLanes;
}

template <class Policy>
__global__ void __launch_bounds__(DiffThreads) diffBlocks(Policy policy, DiffWork work)
{
    extern __shared__ unsigned shared[];
    NearCounts counts(shared, work);
    counts.clear();
    if (teamNumber() < work.piece.blocks()) {
        DeviceTeam team{counts};
        diffBlock(team, policy, work, teamNumber());
    }
    counts.flush();
}

__global__ void __launch_bounds__(LeafThreads) hashLeaves(LeafWork work)
{
    if (teamNumber() >= work.leaves)
        return;
    DeviceHashTeam team;
    hashLeaf(team, work, teamNumber());
}

__global__ void probe(ProbeOperands operands, std::uint64_t *faults)
{
    *faults = probeArithmetic(operands);
}

unsigned blocksFor(std::uint64_t teams, int perBlock)
{
    const auto size = static_cast<std::uint64_t>(perBlock);
    return static_cast<unsigned>((teams + size - 1) / size);
}

cudaStream_t streamOf(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

} // namespace

int launchDiff(const PartType &type, const DiffWork &work, void *stream)
{
    const std::uint64_t counters = work.layout.size();
    const std::size_t shared = counters <= NearCounters ? counters * sizeof(unsigned) : 0;
    const bool known = withPolicy(type, [&](auto policy) {
        diffBlocks<<<blocksFor(work.piece.blocks(), DiffTeams), DiffThreads, shared,
                     streamOf(stream)>>>(policy, work);
    });
    return known ? cudaGetLastError() : cudaErrorInvalidValue;
}

int launchLeaves(const LeafWork &work, void *stream)
{
    hashLeaves<<<blocksFor(work.leaves, LeafTeams), LeafThreads, 0, streamOf(stream)>>>(work);
    return cudaGetLastError();
}

int launchProbe(std::uint64_t *faults, void *stream)
{
    probe<<<1, 1, 0, streamOf(stream)>>>(ProbeOperands(), faults);
    return cudaGetLastError();
}

} // namespace forkpoint::cuda
