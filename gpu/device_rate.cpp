// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/device_rate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

namespace forkpoint {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t SideBytes = 4U << 20;
constexpr std::chrono::milliseconds LeastTime{40};

/// Compares one pair again and again, until the time is over.
class RateWorker
{
public:
    RateWorker(const ComputeBackend &backend, const DType &dtype, const MadeUpPair &pair)
        : m_backend(backend),
          m_dtype(dtype),
          m_a(backend.hostBuffer(SideBytes)),
          m_b(backend.hostBuffer(SideBytes))
    {
        std::memcpy(m_a.get(), pair.a.data(), SideBytes);
        std::memcpy(m_b.get(), pair.b.data(), SideBytes);
    }

    void once()
    {
        DiffStats stats;
        m_backend.hashAndDiff({m_dtype,
                               {m_a.get(), SideBytes},
                               {m_b.get(), SideBytes},
                               0,
                               SideBytes * 8 / m_dtype.bits},
                              {{}, false}, m_leavesA, m_leavesB, stats);
    }

private:
    const ComputeBackend &m_backend;
    const DType &m_dtype;
    HostBuffer m_a, m_b;
    std::vector<Digest128> m_leavesA = std::vector<Digest128>(SideBytes / LeafBytes);
    std::vector<Digest128> m_leavesB = m_leavesA;
};

} // namespace

MadeUpPair makeUp(const DType &dtype, Index elements, MadeUp kind, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    MadeUpPair pair;
    pair.a.resize(std::size_t((elements * dtype.bits + 7) / 8));
    const std::size_t width = std::max<std::size_t>(dtype.bits / 8, 1);
    for (std::size_t i = 0; i < pair.a.size(); ++i) {
        auto byte = std::uint8_t(random());
        if (kind != MadeUp::Random && i % width == width - 1)
            byte = std::uint8_t((byte & 0x83) | 0x38);
        pair.a[i] = std::byte(byte);
    }
    pair.b = pair.a;
    for (std::size_t i = 0; i < pair.b.size(); i += width) {
        if (kind == MadeUp::Near || (kind == MadeUp::Few && random() % 300 == 0))
            pair.b[i] ^= std::byte(1 + random() % 7);
    }
    for (std::size_t i = 0; kind == MadeUp::Random && i < pair.b.size(); ++i)
        pair.b[i] = std::byte(random());
    return pair;
}

double measureRate(const ComputeBackend &backend, std::size_t threads, const DType &dtype,
                   MadeUp kind)
{
    const MadeUpPair pair = makeUp(dtype, SideBytes * 8 / dtype.bits, kind, 1);
    std::vector<std::unique_ptr<RateWorker>> workers;
    for (std::size_t i = 0; i < threads; ++i)
        workers.push_back(std::make_unique<RateWorker>(backend, dtype, pair));
    workers.front()->once(); // the first run of a kernel loads it
    std::atomic<std::uint64_t> rounds = 0;
    const Clock::time_point start = Clock::now();
    {
        std::vector<std::jthread> running;
        for (const auto &worker : workers)
            running.emplace_back([&] {
                do {
                    worker->once();
                    ++rounds;
                } while (Clock::now() - start < LeastTime);
            });
    }
    const std::chrono::duration<double> seconds = Clock::now() - start;
    return double(rounds) * 2.0 * SideBytes / seconds.count();
}

} // namespace forkpoint
