// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/selftest_parity.h"

#include "gpu/cpu_backend.h"
#include "gpu/cpu_kernels.h"
#include "gpu/device_rate.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <thread>

namespace forkpoint {

namespace {

constexpr std::pair<MadeUp, const char *> Kinds[] = {{MadeUp::Equal, "equal"},
                                                     {MadeUp::Near, "all differ"},
                                                     {MadeUp::Few, "few differ"},
                                                     {MadeUp::Random, "random bits"}};

bool sameSum(const ScaledSum &a, const ScaledSum &b)
{
    const auto same = [](double x, double y) {
        return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    };
    return same(a.big, b.big) && same(a.mid, b.mid) && same(a.small, b.small);
}

bool sameSums(const DiffSums &a, const DiffSums &b)
{
    return sameSum(a.absDifference, b.absDifference)
        && sameSum(a.squaredDifference, b.squaredDifference) && sameSum(a.productAB, b.productAB)
        && sameSum(a.squaredA, b.squaredA) && sameSum(a.squaredB, b.squaredB);
}

bool sameHistogram(const PowerHistogram &a, const PowerHistogram &b)
{
    return a.zeros() == b.zeros() && a.bins() == b.bins();
}

auto counts(const DiffStats &stats)
{
    return std::array<std::uint64_t, 19>{
        stats.elements,       stats.differentElements,
        stats.firstIndex,     stats.lastIndex,
        stats.finitePairs,    std::bit_cast<std::uint64_t>(stats.maxAbs),
        stats.maxAbsInteger,  stats.maxAbsIndex,
        stats.maxUlp,         stats.maxUlpIndex,
        stats.nanA,           stats.nanB,
        stats.infA,           stats.infB,
        stats.nanPayloadOnly, stats.signedZeroOnly,
        stats.signFlips,      stats.beyondTolerance,
        stats.valueDifferent};
}

/// All that a backend says of a pair.
struct Answer
{
    DiffStats stats;
    std::vector<Digest128> leavesA, leavesB;

    bool operator==(const Answer &other) const
    {
        return sameBits(stats, other.stats) && leavesA == other.leavesA && leavesB == other.leavesB;
    }
};

Answer answerOf(const ComputeBackend &backend, const DType &dtype, const MadeUpPair &pair,
                Index elements)
{
    Answer answer;
    answer.leavesA.resize((pair.a.size() + LeafBytes - 1) / LeafBytes);
    answer.leavesB = answer.leavesA;
    backend.hashAndDiff({dtype, pair.a, pair.b, 0, elements}, {}, answer.leavesA, answer.leavesB,
                        answer.stats);
    return answer;
}

double secondsNow()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

bool sameBits(const DiffStats &a, const DiffStats &b)
{
    return counts(a) == counts(b) && sameSums(a.sums.total(), b.sums.total())
        && sameHistogram(a.absA, b.absA) && sameHistogram(a.absB, b.absB)
        && sameHistogram(a.absDifference, b.absDifference) && sameHistogram(a.ulp, b.ulp)
        && a.joint.zeros() == b.joint.zeros() && a.joint.cells() == b.joint.cells()
        && a.leaves == b.leaves;
}

ParityReport checkParity(const ComputeBackend &backend, bool deep)
{
    const CpuBackend definition(portableKernels());
    const std::vector<Index> sizes = deep ? std::vector<Index>{2, 2046, 2048, 2050, 70'000, 300'000}
                                          : std::vector<Index>{2, 4106};
    ParityReport report;
    for (const DType &dtype : allDTypes()) {
        for (const auto &[kind, name] : Kinds) {
            bool same = true;
            for (const Index elements : sizes) {
                const Index count = elements * 4; // whole bytes of every type
                const MadeUpPair pair = makeUp(dtype, count, kind, elements);
                same &= answerOf(backend, dtype, pair, count)
                    == answerOf(definition, dtype, pair, count);
            }
            if (same)
                ++report.passed;
            else
                report.failures.push_back(dtype.name + ", " + name
                                          + ": expected the bits of the definition, found others");
        }
    }
    return report;
}

std::vector<std::string> measureRates(const ComputeBackend &backend)
{
    constexpr std::size_t SideBytes = 16U << 20;
    std::vector<std::string> lines;
    for (const char *type : {"float32", "bfloat16", "float16", "float8_e4m3fn", "float64"}) {
        const DType dtype = *dtypeByName(type);
        const Index elements = SideBytes * 8 / dtype.bits;
        for (const auto &[kind, name] : Kinds) {
            if (kind == MadeUp::Random)
                continue;
            const MadeUpPair pair = makeUp(dtype, elements, kind, 1);
            double best = 0.0;
            for (int round = 0; round < 3; ++round) {
                DiffStats stats;
                const double start = secondsNow();
                backend.diff(dtype, pair.a, pair.b, 0, elements, {{}, false}, stats);
                best = std::max(best, 2.0 * SideBytes / 1e9 / (secondsNow() - start));
            }
            char rate[32] = {};
            std::snprintf(rate, sizeof rate, "%.2f GB/s", best);
            lines.push_back(std::string(type) + ", " + name + ": " + rate);
        }
    }
    const std::size_t threads =
        std::max(1U, std::thread::hardware_concurrency()) + backend.waitingThreads();
    char rate[96] = {};
    std::snprintf(rate, sizeof rate,
                  "bfloat16, all differ, fingerprints too, %zu threads: %.2f GB/s", threads,
                  measureRate(backend, threads, *dtypeByName("bfloat16"), MadeUp::Near) / 1e9);
    lines.push_back(rate);
    return lines;
}

} // namespace forkpoint
