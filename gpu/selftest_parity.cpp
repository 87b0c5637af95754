// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/selftest_parity.h"

#include "gpu/cpu_backend.h"
#include "gpu/cpu_kernels.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <random>

namespace forkpoint {

namespace {

using Bytes = std::vector<std::byte>;

enum class Kind { Equal, Near, Few, Random };

constexpr std::pair<Kind, const char *> Kinds[] = {{Kind::Equal, "equal"},
                                                   {Kind::Near, "all differ"},
                                                   {Kind::Few, "few differ"},
                                                   {Kind::Random, "random bits"}};

struct Pair
{
    Bytes a, b;
};

/// Bytes at random; unless they are to be random, with small exponents of either sign, so that
/// numbers of most types are finite. Differences lie in the lowest bits of an element.
Pair makePair(const DType &dtype, Index elements, Kind kind, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    Pair pair{Bytes(std::size_t((elements * dtype.bits + 7) / 8)), {}};
    const std::size_t width = std::max<std::size_t>(dtype.bits / 8, 1);
    for (std::size_t i = 0; i < pair.a.size(); ++i) {
        auto byte = std::uint8_t(random());
        if (kind != Kind::Random && i % width == width - 1)
            byte = std::uint8_t((byte & 0x83) | 0x38);
        pair.a[i] = std::byte(byte);
    }
    pair.b = pair.a;
    for (std::size_t i = 0; i < pair.b.size(); i += width) {
        if (kind == Kind::Near || (kind == Kind::Few && random() % 300 == 0))
            pair.b[i] ^= std::byte(1 + random() % 7);
    }
    for (std::size_t i = 0; kind == Kind::Random && i < pair.b.size(); ++i)
        pair.b[i] = std::byte(random());
    return pair;
}

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
                const Pair pair = makePair(dtype, count, kind, elements);
                DiffStats expected, found;
                definition.diff(dtype, pair.a, pair.b, 0, count, {}, expected);
                backend.diff(dtype, pair.a, pair.b, 0, count, {}, found);
                same &=
                    sameBits(expected, found) && definition.hash(pair.a) == backend.hash(pair.a);
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
            if (kind == Kind::Random)
                continue;
            const Pair pair = makePair(dtype, elements, kind, 1);
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
    return lines;
}

} // namespace forkpoint
