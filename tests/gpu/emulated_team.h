// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/team.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace forkpoint::emulated {

using namespace forkpoint::kernels;

// Warps on the host: 32 lanes that each go their own way and meet only in shuffles. Here they run one
// after the other, in any order.

/// What a lane holds is an array over the lanes, a shuffle reads another one's.
struct Team
{
    struct Sum
    {
        std::array<double, BlockLanes> values{};
        double &operator[](int lane) { return values[std::size_t(lane)]; }
    };
    struct Tally
    {
        std::array<std::uint64_t, BlockLanes> values{};
        std::uint64_t &operator[](int lane) { return values[std::size_t(lane)]; }
    };
    struct LanePeak
    {
        std::uint64_t key = 0;
        std::uint64_t index = ~std::uint64_t(0);
    };
    struct Peak
    {
        std::array<LanePeak, BlockLanes> values{};
        LanePeak &operator[](int lane) { return values[std::size_t(lane)]; }
    };

    std::array<int, BlockLanes> schedule{};

    explicit Team(std::mt19937_64 &random)
    {
        std::iota(schedule.begin(), schedule.end(), 0);
        std::shuffle(schedule.begin(), schedule.end(), random);
    }

    template <class Step>
    void sweep(int count, Step step)
    {
        for (const int lane : schedule) {
            for (int i = lane; i < count; i += BlockLanes)
                step(i, lane);
        }
    }
    /// __shfl_down_sync: lanes past the end read themselves.
    double fold(const Sum &sum)
    {
        std::array<double, BlockLanes> values = sum.values;
        for (std::size_t half = BlockLanes / 2; half > 0; half /= 2) {
            std::array<double, BlockLanes> next = values;
            for (std::size_t lane = 0; lane < BlockLanes; ++lane)
                next[lane] =
                    add(values[lane], values[lane + half < BlockLanes ? lane + half : lane]);
            values = next;
        }
        return values[0];
    }
    std::uint64_t total(const Tally &tally)
    {
        return std::accumulate(tally.values.begin(), tally.values.end(), std::uint64_t(0));
    }
    LanePeak best(const Peak &peak) // a butterfly
    {
        std::array<LanePeak, BlockLanes> values = peak.values;
        for (std::size_t half = BlockLanes / 2; half > 0; half /= 2) {
            std::array<LanePeak, BlockLanes> next = values;
            for (std::size_t lane = 0; lane < BlockLanes; ++lane)
                offer(next[lane], values[lane ^ half].key, values[lane ^ half].index);
            values = next;
        }
        return values[0];
    }
    void count(std::uint64_t &bin) { ++bin; }
    template <class Step>
    void once(Step step)
    {
        step();
    }
};

/// Four groups of the eight lanes of XXH3. Which thread runs is kept beside the team, because what it
/// holds is told from what others hold by nothing else.
struct HashTeam
{
    static constexpr int Groups = BlockLanes / HashLanes;
    static inline thread_local std::size_t thread = 0;

    /// A number of each thread.
    struct Accumulators
    {
        std::array<std::uint64_t, BlockLanes> values{};
        std::uint64_t &operator[](int) { return values[thread]; }
    };
    struct Parts
    {
        std::array<std::uint64_t, BlockLanes> values{};
        std::uint64_t &at(int, int) { return values[thread]; }
    };

    std::array<std::size_t, BlockLanes> schedule{};

    explicit HashTeam(std::mt19937_64 &random)
    {
        std::iota(schedule.begin(), schedule.end(), std::size_t(0));
        std::shuffle(schedule.begin(), schedule.end(), random);
    }

    template <class Step>
    void each(Step step)
    {
        for (const std::size_t next : schedule) {
            thread = next;
            step(int(next % HashLanes), int(next / HashLanes));
        }
    }
    void addParts(Accumulators &sums, const Parts &parts) // two butterflies
    {
        std::array<std::uint64_t, BlockLanes> values = parts.values;
        for (std::size_t distance = HashLanes; distance < BlockLanes; distance *= 2) {
            std::array<std::uint64_t, BlockLanes> next = values;
            for (std::size_t i = 0; i < BlockLanes; ++i)
                next[i] = values[i] + values[i ^ distance];
            values = next;
        }
        for (std::size_t i = 0; i < BlockLanes; ++i)
            sums.values[i] += values[i];
    }
    /// What the last group sees; all are to see the same.
    std::array<std::uint64_t, HashLanes> gather(const Accumulators &sums)
    {
        std::array<std::uint64_t, HashLanes> all{};
        for (std::size_t i = 0; i < BlockLanes; ++i) {
            if (i >= HashLanes && sums.values[i] != all[i % HashLanes])
                qFatal("the groups of a team hold different accumulators");
            all[i % HashLanes] = sums.values[i];
        }
        return all;
    }
    void count(std::uint64_t &bin) { ++bin; }
    template <class Step>
    void once(Step step)
    {
        step();
    }
};

} // namespace forkpoint::emulated
