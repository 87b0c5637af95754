// SPDX-License-Identifier: GPL-3.0-or-later
// Rates of the kernels in memory, on one thread, each beside reading the same bytes once in the
// same round. Prints one JSON object a line: type, data, GB/s of reading, GB/s of statistics (bytes
// of both sides), their ratio, pairs a second, and how many times longer it takes with both
// fingerprints. Time is that of the thread on a processor. Not a test: nothing passes or fails.
#include "gpu/cpu_backend.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

using namespace forkpoint;

namespace {

constexpr std::size_t SideBytes = 64U << 20; ///< of a side: more than any cache

enum class Data { Identical, OnePercent, All };

const char *nameOf(Data data)
{
    return data == Data::Identical ? "identical" : data == Data::OnePercent ? "1 %" : "100 %";
}

/// Time of this thread on a processor: what others run beside it is not counted.
double now()
{
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::uint64_t readBoth(const std::vector<std::byte> &a, const std::vector<std::byte> &b)
{
    std::uint64_t sums[4] = {};
    for (std::size_t i = 0; i + 32 <= a.size(); i += 32) {
        for (std::size_t k = 0; k < 4; ++k) {
            std::uint64_t x = 0, y = 0;
            std::memcpy(&x, a.data() + i + 8 * k, 8);
            std::memcpy(&y, b.data() + i + 8 * k, 8);
            sums[k] ^= x ^ y;
        }
    }
    return sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
}

/// The code of a number, rounded towards zero; too small a one becomes zero.
std::uint64_t code(const DType &dtype, double value)
{
    const int mantissa = dtype.layout.mantissaBits;
    const double size = std::fabs(value);
    int exponent = 0;
    const double fraction = std::frexp(size, &exponent); // in [1/2, 1)
    const int field = exponent - 1 + dtype.layout.bias;
    std::uint64_t result = 0;
    if (field >= 1)
        result = std::uint64_t(field) << mantissa
            | std::uint64_t((fraction * 2 - 1) * double(std::uint64_t(1) << mantissa));
    return value < 0 ? result | std::uint64_t(1) << (dtype.bits - 1) : result;
}

void fill(const DType &dtype, Data data, std::vector<std::byte> &a, std::vector<std::byte> &b)
{
    std::mt19937_64 random(5);
    std::normal_distribution<double> weights(0.0, dtype.bits == 8 ? 1.0 : 0.02);
    std::vector<std::uint64_t> codes(1U << 16);
    for (std::uint64_t &each : codes)
        each = code(dtype, weights(random));
    const std::size_t width = dtype.bits / 8;
    // Differences from a few last places up, as after some steps of training.
    const std::uint64_t spread = dtype.bits >= 32 ? 1U << 14 : dtype.bits == 16 ? 16 : 2;
    for (std::size_t i = 0; i + width <= a.size(); i += width) {
        const std::uint64_t bits = random();
        const std::uint64_t x = codes[bits & 0xFFFF];
        std::uint64_t y = x;
        if (data == Data::All || (data == Data::OnePercent && (bits >> 16) % 100 == 0))
            y = y + 1 + (bits >> 40) % spread;
        std::memcpy(a.data() + i, &x, width);
        std::memcpy(b.data() + i, &y, width);
    }
}

/// Statistics of everything, in the pieces of the comparison; with digests, both sides' leaves too.
std::uint64_t measureAll(const CpuBackend &backend, const DType &dtype,
                         const std::vector<std::byte> &a, const std::vector<std::byte> &b,
                         bool digests)
{
    const std::size_t piece = dtype.bits == 8 ? 1U << 20 : 256U << 10;
    const std::size_t unit = 4U << 20;
    std::vector<Digest128> leaves(piece / LeafBytes);
    std::uint64_t sink = 0;
    DiffStats stats;
    for (std::size_t at = 0; at < a.size(); at += piece) {
        if (at % unit == 0)
            stats = {};
        const ByteView x = ByteView(a).subspan(at, piece), y = ByteView(b).subspan(at, piece);
        if (digests) {
            backend.hashLeaves(x, leaves);
            sink ^= leaves[0].low;
            backend.hashLeaves(y, leaves);
            sink ^= leaves[0].low;
        }
        backend.diff(dtype, x, y, at * 8 / dtype.bits, piece * 8 / dtype.bits, {{}, false}, stats);
        sink ^= stats.differentElements;
    }
    return sink;
}

void bench(const char *type, Data data, int rounds)
{
    const DType dtype = *dtypeByName(type);
    std::vector<std::byte> a(SideBytes), b(SideBytes);
    fill(dtype, data, a, b);
    const CpuBackend backend;
    std::vector<double> reading, measuring, both;
    std::uint64_t sink = 0;
    for (int round = 0; round <= rounds; ++round) {
        const double start = now();
        sink ^= readBoth(a, b);
        const double read = now();
        sink ^= measureAll(backend, dtype, a, b, false);
        const double measured = now();
        sink ^= measureAll(backend, dtype, a, b, true);
        const double end = now();
        if (round > 0) { // the first one warms up
            reading.push_back(read - start);
            measuring.push_back(measured - read);
            both.push_back(end - measured);
        }
    }
    const double gigabytes = 2.0 * SideBytes / 1e9;
    const double pairs = double(SideBytes * 8 / dtype.bits) / 1e9;
    std::printf("{\"type\": \"%s\", \"data\": \"%s\", \"read\": %.2f, \"stats\": %.2f, "
                "\"ratio\": %.3f, \"pairs\": %.3f, \"with_digests\": %.3f, \"backend\": \"%s\", "
                "\"sink\": %d}\n",
                type, nameOf(data), gigabytes / median(reading), gigabytes / median(measuring),
                median(reading) / median(measuring), pairs / median(measuring),
                median(both) / median(measuring), backend.description().c_str(), int(sink & 1));
    std::fflush(stdout);
}

} // namespace

int main(int count, char **arguments)
{
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
    for (const char *type : {"float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2",
                             "float64", "int64", "int8"}) {
        const DType dtype = *dtypeByName(type);
        const bool codesOnly = !dtype.isFloating() || dtype.bits == 64;
        for (const Data data : {Data::Identical, Data::OnePercent, Data::All}) {
            if (!codesOnly || data != Data::OnePercent)
                bench(type, data, rounds);
        }
    }
    return 0;
}
