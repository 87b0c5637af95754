// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/element_type.h"
#include "gpu/kernels/xxh3.h"

namespace forkpoint::kernels {

// What one launch on a device is about, and what each of its teams does. Teams share nothing but
// integer counters, so that they may run in any order and any number at a time.

/// A piece of two sides that lie in memory from a block on.
struct PieceView
{
    const std::uint8_t *a = nullptr;
    const std::uint8_t *b = nullptr;
    std::uint64_t parts = 0;
    std::uint64_t firstElement = 0; ///< index in the tensor
    int partBits = 8;
    int partsPerElement = 1; ///< 2 of a complex type

    FP_HD std::uint64_t blocks() const { return (parts + BlockParts - 1) / BlockParts; }
    /// The block that begins at that part.
    FP_HD BlockView block(std::uint64_t firstPart) const
    {
        const std::uint64_t offset = firstPart * static_cast<std::uint64_t>(partBits) / 8;
        const std::uint64_t left = parts - firstPart;
        BlockView view;
        view.a = a + offset;
        view.b = b + offset;
        view.parts = static_cast<int>(left < BlockParts ? left : BlockParts);
        view.firstElement = firstElement + firstPart / static_cast<std::uint64_t>(partsPerElement);
        view.partsPerElement = partsPerElement;
        return view;
    }
};

/// Where the counters of a piece lie, in one array: how many teams are done, then |a| and |b| by
/// power, then the joint histogram of floats or the |a - b| of integers.
struct CounterLayout
{
    int lowest = 0; ///< power of bin 1
    int bins = 0;
    int columns = 0; ///< of the joint histogram; 0: integers

    FP_HD bool isFloat() const { return columns != 0; }

    FP_HD std::uint64_t size() const
    {
        return 1
            + static_cast<std::uint64_t>(bins)
            * static_cast<std::uint64_t>(columns == 0 ? 3 : 2 + columns);
    }
    FP_HD Histograms histograms(std::uint64_t *counters, bool magnitudes) const
    {
        Histograms view;
        view.absA = magnitudes ? counters + 1 : nullptr;
        view.absB = magnitudes ? counters + 1 + bins : nullptr;
        std::uint64_t *differences = counters + 1 + 2 * bins;
        view.absDifference = columns == 0 ? differences : nullptr;
        view.joint = columns == 0 ? nullptr : differences;
        view.lowest = lowest;
        view.columns = columns;
        return view;
    }
};

/// The layout of a type's counters: a ULP distance of `bits` bits has a power below `bits`.
template <class Policy>
FP_HD CounterLayout counterLayout(const Policy &policy, int bits)
{
    if constexpr (Policy::isFloat)
        return {lowestPower(policy.format),
                powerLimit(policy.format) - lowestPower(policy.format) + 2, bits + 1};
    else
        return {0, 66, 0};
}

struct DiffWork
{
    PieceView piece;
    ToleranceRule rule;
    bool magnitudes = true;
    CounterLayout layout;
    std::uint64_t *counters = nullptr; ///< layout.size(), zero before
    // One for each block.
    DiffRecord *records = nullptr;
    BlockSums *sums = nullptr;
};

/// One block of a piece, by one team.
template <class Team, class Policy>
FP_HD void diffBlock(Team &team, const Policy &policy, const DiffWork &work, std::uint64_t block)
{
    const BlockView view = work.piece.block(block * BlockParts);
    const Histograms bins = work.layout.histograms(work.counters, work.magnitudes);
    DiffRecord found;
    BlockSums sums;
    locateDifferences(team, policy, view, work.rule, found);
    if constexpr (Policy::isFloat)
        sums = diffFloats(team, policy, view, bins, found);
    else
        sums = diffIntegers(team, policy, view, bins, found);
    team.once([&] {
        work.records[block] = found;
        work.sums[block] = sums;
        team.count(work.counters[0]);
    });
}

struct LeafWork
{
    const std::uint8_t *data = nullptr;
    std::uint64_t leaves = 0; ///< whole ones
    Hash128 *hashes = nullptr;
    std::uint64_t *done = nullptr; ///< counts them, from zero
};

/// One leaf, by one team.
template <class Team>
FP_HD void hashLeaf(Team &team, const LeafWork &work, std::uint64_t leaf)
{
    const Hash128 hash = hashLong(team, work.data + leaf * HashLeafBytes, HashLeafBytes);
    team.once([&] {
        work.hashes[leaf] = hash;
        team.count(*work.done);
    });
}

} // namespace forkpoint::kernels
