// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/dtype.h"
#include "model/shape.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

constexpr Index NoIndex = ~Index(0);

/// A sum of doubles that may over- or underflow, in three ranges (Blue, ACM TOMS 4 (1978) 15):
/// value = big * 2^1200 + mid + small * 2^-1200. For types narrower than float64 only mid is used.
struct ScaledSum
{
    double big = 0.0;
    double mid = 0.0;
    double small = 0.0;
};

/// The five sums of one fixed block of 2048 parts, or of a subtree of such blocks.
struct DiffSums
{
    ScaledSum absDifference; ///< sum of |a - b|
    ScaledSum squaredDifference;
    ScaledSum productAB;
    ScaledSum squaredA;
    ScaledSum squaredB;
};

/// Folds block sums as a left-balanced binary tree over the block number, whatever the grouping in
/// which they arrive: node(i, k) = node(2i, k-1) + node(2i+1, k-1), an odd one is promoted.
class SumTree
{
public:
    /// Appends the next block.
    void push(const DiffSums &block);
    /// Appends `blocks` blocks whose sum is known, and is exact however it is added up; a power of
    /// two of them, or fewer than any subtree before.
    void pushExact(const DiffSums &sums, std::uint64_t blocks);
    /// Appends what `next` folded, whose first block follows our last one. Our block count must be
    /// a multiple of the power of two that spans `next` (units are aligned, so it is).
    void append(const SumTree &next);
    DiffSums total() const;
    std::uint64_t blockCount() const { return m_count; }

private:
    struct Node
    {
        DiffSums sums;
        int level;
    };
    void pushNode(const Node &node);

    std::vector<Node> m_nodes; ///< levels strictly falling
    std::uint64_t m_count = 0;
};

/// Counts by power of two: key k counts 2^k <= x < 2^(k+1). Zero is counted apart. For ULP
/// distances the same, of the distance. Only pairs with two finite sides are counted.
class PowerHistogram
{
public:
    static constexpr int Lowest = -1074; ///< smallest float64 subnormal
    static constexpr int Highest = 1024; ///< a float64 difference can reach just above 2^1024

    void addZeros(std::uint64_t count) { m_zeros += count; }
    void add(int power, std::uint64_t count = 1);
    void merge(const PowerHistogram &other);

    std::uint64_t zeros() const { return m_zeros; }
    /// (power, count) of every non-empty bin, rising.
    std::vector<std::pair<int, std::uint64_t>> bins() const;
    std::uint64_t total() const;

private:
    std::uint64_t m_zeros = 0;
    int m_first = 0;                     ///< power of m_counts[0]
    std::vector<std::uint64_t> m_counts; ///< covers only the powers seen
};

/// Counts pairs of floats by the power of |a - b| and by that of their ULP distance, both keyed as
/// in PowerHistogram. |a - b| is 0 exactly where the distance is: those pairs are counted apart. Its
/// two margins are DiffStats::absDifference and DiffStats::ulp.
class JointHistogram
{
public:
    struct Cell
    {
        std::int16_t power = 0;    ///< of |a - b|
        std::int16_t ulpPower = 0; ///< of the ULP distance
        std::uint64_t count = 0;

        bool operator==(const Cell &) const = default;
    };

    void addZeros(std::uint64_t count) { m_zeros += count; }
    /// Adds cells that are sorted by (power, ulpPower) and occur once each.
    void add(const std::vector<Cell> &cells);
    void merge(const JointHistogram &other);

    std::uint64_t zeros() const { return m_zeros; }
    /// The non-empty cells, sorted by (power, ulpPower).
    const std::vector<Cell> &cells() const { return m_cells; }

private:
    std::uint64_t m_zeros = 0;
    std::vector<Cell> m_cells;
};

/// What is known of one stretch of leafElements() elements: where a tensor differs, and how much.
struct LeafFacts
{
    static constexpr std::int16_t NoPower = INT16_MIN;

    std::uint32_t different = 0; ///< elements whose bits differ
    /// The power of the largest |a - b| of its finite pairs; NoPower where all of them are 0.
    std::int16_t largestPower = NoPower;

    bool operator==(const LeafFacts &) const = default;
};

/// What a report keeps of the sums: their quotients, but not the sums.
struct DerivedStats
{
    std::optional<double> meanAbs, rms, rmsA, rmsB, cosine;
};

/// Everything cli.md defines about the difference of two equally shaped tensors, except what is
/// derived by a division at the end. Every member is independent of thread count, block size and
/// device. Indices name elements; sums, maxima, histograms run over parts (two for a complex
/// element) of pairs whose two sides are finite.
struct DiffStats
{
    Index elements = 0;
    Index differentElements = 0; ///< stored bits differ
    Index firstIndex = NoIndex;
    Index lastIndex = NoIndex;
    Index finitePairs = 0;

    /// Largest |a - b| of floats, rounded once to float64 (may be infinite for float64), and the
    /// lowest index that has it.
    double maxAbs = 0.0;
    std::uint64_t maxAbsInteger = 0; ///< the exact one of integer types
    Index maxAbsIndex = NoIndex;
    std::uint64_t maxUlp = 0; ///< floats only
    Index maxUlpIndex = NoIndex;

    Index nanA = 0, nanB = 0, infA = 0, infB = 0;
    Index nanPayloadOnly = 0;  ///< both NaN, bits differ
    Index signedZeroOnly = 0;  ///< +0 against -0
    Index signFlips = 0;       ///< both finite and non-zero, signs differ
    Index beyondTolerance = 0; ///< differing elements outside the tolerance asked for
    Index valueDifferent =
        0; ///< elements that are not equal as values (NaN equals NaN of any payload)

    SumTree sums;
    std::optional<DerivedStats> recorded; ///< read back from a report: stands for `sums`
    bool magnitudes = true;               ///< absA and absB were counted
    PowerHistogram absA, absB;            ///< of |a| and |b|
    PowerHistogram absDifference, ulp;
    JointHistogram joint;          ///< floats only
    std::vector<LeafFacts> leaves; ///< in order, from element 0 on; none of opaque types

    /// Appends the statistics of the elements that follow. Associative in the sense of SumTree.
    void append(const DiffStats &next);

    // Derived numbers; nothing where the definition has no value (no finite pair, a zero side).
    std::optional<double> meanAbs() const;
    std::optional<double> rms() const;
    std::optional<double> rmsA() const;
    std::optional<double> rmsB() const;
    std::optional<double> cosine() const;
    bool valueEqual() const { return valueDifferent == 0; }
};

} // namespace forkpoint
