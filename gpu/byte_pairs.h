// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/diff_unit.h"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace forkpoint {

/// How often each pair of bytes occurs: what all statistics of an 8-bit type can be told from, each
/// pair looked at once however often it occurs. Counted a leaf at a time.
class PairCounts
{
public:
    static constexpr std::size_t Pairs = 65536;

    /// The pair (a, b) as its number.
    static std::size_t pairOf(std::uint8_t a, std::uint8_t b)
    {
        return static_cast<std::size_t>(a) | static_cast<std::size_t>(b) << 8;
    }

    /// Counts at most LeafBytes pairs, and calls visit(pair, count) for each kind of them.
    template <class Visit>
    void addLeaf(CountPairsKernel kernel, const std::uint8_t *a, const std::uint8_t *b,
                 std::size_t size, Visit visit);

    /// Calls visit(pair, count) for all pairs since the last call, and forgets them.
    template <class Visit>
    void take(Visit visit);

private:
    /// Two counters a pair, so that neighbours that are equal do not wait for each other; no more
    /// than half a leaf goes to each, which 16 bits can count.
    std::array<std::uint16_t, Pairs> m_even{}, m_odd{};
    std::array<std::uint32_t, Pairs> m_all{};
    std::vector<std::uint16_t> m_seen; ///< the pairs that m_all counts
};

template <class Visit>
void PairCounts::addLeaf(CountPairsKernel kernel, const std::uint8_t *a, const std::uint8_t *b,
                         std::size_t size, Visit visit)
{
    constexpr std::size_t Stretch = 32; // pairs: a cache line of counters
    kernel(a, b, size, m_even.data(), m_odd.data());
    for (std::size_t start = 0; start < Pairs; start += Stretch) {
        std::uint64_t any = 0;
        for (std::size_t i = start; i < start + Stretch; i += 4) {
            std::uint64_t even = 0, odd = 0;
            std::memcpy(&even, &m_even[i], sizeof even);
            std::memcpy(&odd, &m_odd[i], sizeof odd);
            any |= even | odd;
        }
        if (any == 0)
            continue;
        for (std::size_t pair = start; pair < start + Stretch; ++pair) {
            const std::uint32_t count = std::uint32_t(m_even[pair]) + m_odd[pair];
            if (count == 0)
                continue;
            m_even[pair] = m_odd[pair] = 0;
            if (m_all[pair] == 0)
                m_seen.push_back(static_cast<std::uint16_t>(pair));
            m_all[pair] += count;
            visit(pair, count);
        }
    }
}

template <class Visit>
void PairCounts::take(Visit visit)
{
    for (const std::uint16_t pair : m_seen)
        visit(pair, std::exchange(m_all[pair], 0U));
    m_seen.clear();
}

/// Those of the calling thread; nothing is counted in them between two pieces.
PairCounts &threadPairCounts();

/// What the codes of an 8-bit type are, by code.
struct ByteMeaning
{
    int lowest = 0; ///< units are of 2^lowest
    std::array<std::int64_t, 256> units{};
    std::array<std::int64_t, 256> orders{}; ///< on the line of all codes
    std::array<bool, 256> finite{};
};

/// The five sums of a piece as integers: |a - b| in units, products in squares of the unit.
struct ExactSums
{
    __extension__ using Wide = __int128;
    Wide absDifference = 0, squaredDifference = 0, productAB = 0, squaredA = 0, squaredB = 0;

    void add(std::int64_t a, std::int64_t b, std::uint32_t count);
    /// Whether every term and every partial sum, in whatever order, is exact in float64. Then the
    /// order of the definition and this one give the same bits.
    bool fitDoubles() const;
    kernels::BlockSums toBlockSums(int lowest) const;
};

/// Whole blocks of a piece of an 8-bit type, a leaf at a time.
class BytePairDiff
{
public:
    BytePairDiff(const ByteMeaning &meaning, CountPairsKernel kernel, const std::uint8_t *a,
                 const std::uint8_t *b, std::size_t size);
    ~BytePairDiff();
    BytePairDiff(const BytePairDiff &) = delete;
    BytePairDiff &operator=(const BytePairDiff &) = delete;

    bool exact() const { return m_sums.fitDoubles(); }
    const ExactSums &sums() const { return m_sums; }
    const std::vector<LeafFacts> &leaves() const { return m_leaves; }
    PairCounts &counts() { return m_counts; }

    /// Where the first and the last difference are, counted from the piece's beginning.
    void locateDifferences(std::uint64_t firstElement, kernels::DiffRecord &record) const;
    /// Fills the maxima; their indices where they exceed those of `before`.
    void locateMaxima(std::uint64_t firstElement, bool isFloat, const kernels::DiffRecord &before,
                      kernels::DiffRecord &record) const;

private:
    struct Leaf
    {
        std::int64_t maxUnits = -1, maxUlp = -1; ///< -1: no finite pair
    };
    template <class Matches>
    std::uint64_t find(std::size_t firstLeaf, Matches matches) const;

    const ByteMeaning &m_meaning;
    PairCounts &m_counts;
    const std::uint8_t *m_a, *m_b;
    std::size_t m_size;
    ExactSums m_sums;
    std::vector<Leaf> m_peaks;
    std::vector<LeafFacts> m_leaves;
};

} // namespace forkpoint
