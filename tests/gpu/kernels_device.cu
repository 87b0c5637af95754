// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled, not run: the kernels' one definition as device code, on teams of one thread a lane.
#include "gpu/kernels/diff.h"
#include "gpu/kernels/xxh3.h"

namespace {

using namespace forkpoint::kernels;

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

    template <class Step>
    __device__ void sweep(int count, Step step)
    {
        const int lane = static_cast<int>(threadIdx.x % BlockLanes);
        for (int i = lane; i < count; i += BlockLanes)
            step(i, lane);
    }
    __device__ double fold(Sum sum)
    {
        for (int half = BlockLanes / 2; half > 0; half /= 2)
            sum.value = add(sum.value, __shfl_down_sync(~0U, sum.value, half));
        return sum.value;
    }
    __device__ std::uint64_t total(const Tally &tally)
    {
        unsigned long long value = tally.value;
        for (int half = BlockLanes / 2; half > 0; half /= 2)
            value += __shfl_xor_sync(~0U, value, half);
        return value;
    }
    __device__ Peak best(const Peak &peak)
    {
        Peak result = peak;
        for (int half = BlockLanes / 2; half > 0; half /= 2) {
            const unsigned long long key = result.key;
            const unsigned long long index = result.index;
            offer(result, __shfl_xor_sync(~0U, key, half), __shfl_xor_sync(~0U, index, half));
        }
        return result;
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

struct DeviceHashTeam
{
    struct All
    {
        std::uint64_t values[HashLanes];
        __device__ std::uint64_t operator[](std::size_t lane) const { return values[lane]; }
    };
    struct Accumulators
    {
        std::uint64_t value = 0;
        __device__ std::uint64_t &operator[](int) { return value; }
    };
    template <class Step>
    __device__ void each(Step step)
    {
        step(static_cast<int>(threadIdx.x % HashLanes));
    }
    __device__ All gather(const Accumulators &sums)
    {
        All all{};
        for (int lane = 0; lane < HashLanes; ++lane) {
            const unsigned long long value = sums.value;
            all.values[lane] = __shfl_sync(0xFFU, value, lane, HashLanes);
        }
        return all;
    }
};

template <class Policy>
__device__ void oneBlock(const Policy &policy, const BlockView &view, const ToleranceRule &rule,
                         const Histograms &bins, DiffRecord *record, BlockSums *sums)
{
    DeviceTeam team;
    locateDifferences(team, policy, view, rule, *record);
    *sums = diffFloats(team, policy, view, bins, *record);
}

} // namespace

__global__ void diffFloat32(BlockView view, ToleranceRule rule, Histograms bins, DiffRecord *record,
                            BlockSums *sums)
{
    oneBlock(FloatPolicy<Float32, PlainParts<std::uint32_t>>{}, view, rule, bins, record, sums);
}

__global__ void diffFloat64(BlockView view, ToleranceRule rule, Histograms bins, DiffRecord *record,
                            BlockSums *sums)
{
    oneBlock(Float64Policy<PlainParts<std::uint64_t>>{}, view, rule, bins, record, sums);
}

__global__ void diffPacked(RuntimeFormat format, BlockView view, ToleranceRule rule,
                           Histograms bins, DiffRecord *record, BlockSums *sums)
{
    oneBlock(FloatPolicy<RuntimeFormat, PackedParts>{format, {4}}, view, rule, bins, record, sums);
}

__global__ void diffInt64(BlockView view, Histograms bins, DiffRecord *record, BlockSums *sums)
{
    DeviceTeam team;
    const IntegerPolicy<PlainParts<std::uint64_t>> policy{{}, 64, true, false};
    *sums = diffIntegers(team, policy, view, bins, *record);
}

__global__ void hashLeaf(const std::uint8_t *data, std::size_t size, Hash128 *hash)
{
    DeviceHashTeam team;
    *hash = xxh3(team, data, size);
}
