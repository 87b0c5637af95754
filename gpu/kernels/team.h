// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/geometry.h"

namespace forkpoint::kernels {

// A kernel body is a template over a team of lanes. It may only run a step on every lane and
// combine what the lanes hold. A host team runs the lanes in a loop; a device team is one thread a
// lane and turns the combining into shuffles. What depends on the order of additions (doubles) is
// kept per lane and folded in a fixed order; what does not (integer sums, maxima with the lowest
// index) a host team keeps once for all lanes.

/// The 32 lanes of a statistics block, on one host thread.
struct HostTeam
{
    /// A double of each lane.
    struct Sum
    {
        double values[BlockLanes] = {};
        FP_HD double &operator[](int lane) { return values[lane]; }
    };

    /// An integer sum over all lanes.
    struct Tally
    {
        std::uint64_t value = 0;
        FP_HD std::uint64_t &operator[](int) { return value; }
    };

    /// The largest key seen and the lowest index that has it.
    struct Peak
    {
        std::uint64_t key = 0;
        std::uint64_t index = ~std::uint64_t(0);
        FP_HD Peak &operator[](int) { return *this; }
    };

    /// Calls step(i, lane) for every i below `count`; each lane sees its own i in rising order.
    template <class Step>
    FP_HD void sweep(int count, Step step)
    {
        for (int i = 0; i < count; ++i)
            step(i, i % BlockLanes);
    }

    /// The lane sums folded 16, 8, 4, 2, 1.
    FP_HD double fold(Sum sum)
    {
        for (int half = BlockLanes / 2; half > 0; half /= 2) {
            for (int lane = 0; lane < half; ++lane)
                sum.values[lane] = add(sum.values[lane], sum.values[lane + half]);
        }
        return sum.values[0];
    }

    FP_HD std::uint64_t total(const Tally &tally) { return tally.value; }
    FP_HD Peak best(const Peak &peak) { return peak; }

    /// One more in a bin that all lanes share.
    FP_HD void count(std::uint64_t &bin) { ++bin; }
    /// Runs what must happen once, not once a lane.
    template <class Step>
    FP_HD void once(Step step)
    {
        step();
    }
};

/// Keeps (key, index) if the key is larger, or equal at a lower index.
template <class Peak>
FP_HD void offer(Peak &peak, std::uint64_t key, std::uint64_t index)
{
    if (key > peak.key || (key == peak.key && index < peak.index)) {
        peak.key = key;
        peak.index = index;
    }
}

/// The eight lanes of XXH3, on one host thread. A team may have several groups of them, which take
/// the stripes of a block in turn and all hold the same accumulators.
struct HostHashTeam
{
    static constexpr int Groups = 1;

    struct Accumulators
    {
        std::uint64_t values[HashLanes] = {};
        FP_HD std::uint64_t &operator[](int lane) { return values[lane]; }
        FP_HD std::uint64_t operator[](std::size_t lane) const { return values[lane]; }
    };
    /// What each lane of each group adds.
    struct Parts
    {
        std::uint64_t values[HashLanes] = {};
        FP_HD std::uint64_t &at(int lane, int) { return values[lane]; }
    };

    /// Calls step(lane, group).
    template <class Step>
    FP_HD void each(Step step)
    {
        for (int lane = 0; lane < HashLanes; ++lane)
            step(lane, 0);
    }

    /// Adds the parts of all groups to the accumulators.
    FP_HD void addParts(Accumulators &sums, const Parts &parts)
    {
        for (int lane = 0; lane < HashLanes; ++lane)
            sums.values[lane] += parts.values[lane];
    }

    FP_HD const Accumulators &gather(const Accumulators &sums) { return sums; }
};

} // namespace forkpoint::kernels
