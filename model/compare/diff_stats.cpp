// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/diff_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace forkpoint {

namespace {

constexpr int RangeShift = 1200; // of ScaledSum

ScaledSum operator+(const ScaledSum &a, const ScaledSum &b)
{
    return {a.big + b.big, a.mid + b.mid, a.small + b.small};
}

DiffSums operator+(const DiffSums &a, const DiffSums &b)
{
    return {a.absDifference + b.absDifference, a.squaredDifference + b.squaredDifference,
            a.productAB + b.productAB, a.squaredA + b.squaredA, a.squaredB + b.squaredB};
}

/// fraction * 2^exponent with 1/2 <= |fraction| < 1, or zero: a sum of any size.
struct Scaled
{
    double fraction = 0.0;
    int exponent = 0;
};

Scaled normalized(double value, int exponent)
{
    Scaled result;
    result.fraction = std::frexp(value, &result.exponent);
    result.exponent = result.fraction == 0.0 ? 0 : result.exponent + exponent;
    return result;
}

/// The three ranges added at the scale of the largest.
Scaled combine(const ScaledSum &sum)
{
    const std::array<Scaled, 3> parts{normalized(sum.small, -RangeShift), normalized(sum.mid, 0),
                                      normalized(sum.big, RangeShift)};
    int top = std::numeric_limits<int>::min();
    for (const Scaled &part : parts) {
        if (part.fraction != 0.0)
            top = std::max(top, part.exponent);
    }
    double total = 0.0;
    for (const Scaled &part : parts) {
        if (part.fraction != 0.0)
            total += std::ldexp(part.fraction, part.exponent - top);
    }
    return total == 0.0 ? Scaled{} : normalized(total, top);
}

double toDouble(const Scaled &value)
{
    return std::ldexp(value.fraction, value.exponent);
}

double meanOf(const ScaledSum &sum, Index count)
{
    const Scaled total = combine(sum);
    return toDouble({total.fraction / static_cast<double>(count), total.exponent});
}

double rootMeanOf(const ScaledSum &sum, Index count)
{
    const Scaled total = combine(sum);
    // An even exponent, so that its half is whole.
    const int odd = total.exponent & 1;
    const double mean = std::ldexp(total.fraction, odd) / static_cast<double>(count);
    return toDouble({std::sqrt(mean), (total.exponent - odd) / 2});
}

} // namespace

void SumTree::push(const DiffSums &block)
{
    pushNode({block, 0});
}

void SumTree::pushExact(const DiffSums &sums, std::uint64_t blocks)
{
    // Whichever subtree holds the sum: adding the zeros of the others changes nothing.
    DiffSums next = sums;
    for (int level = 63; level >= 0; --level) {
        if ((blocks >> level & 1) == 0)
            continue;
        pushNode({next, level});
        next = {};
    }
}

void SumTree::append(const SumTree &next)
{
    for (const Node &node : next.m_nodes)
        pushNode(node);
}

void SumTree::pushNode(const Node &node)
{
    m_count += std::uint64_t(1) << node.level;
    m_nodes.push_back(node);
    while (m_nodes.size() > 1 && m_nodes[m_nodes.size() - 2].level == m_nodes.back().level) {
        const Node right = m_nodes.back();
        m_nodes.pop_back();
        Node &left = m_nodes.back();
        left = {left.sums + right.sums, left.level + 1};
    }
}

DiffSums SumTree::total() const
{
    if (m_nodes.empty())
        return {};
    DiffSums sums = m_nodes.back().sums;
    for (std::size_t i = m_nodes.size() - 1; i-- > 0;)
        sums = m_nodes[i].sums + sums;
    return sums;
}

void PowerHistogram::add(int power, std::uint64_t count)
{
    if (count == 0)
        return;
    power = std::clamp(power, Lowest, Highest);
    if (m_counts.empty())
        m_first = power;
    if (power < m_first) {
        m_counts.insert(m_counts.begin(), static_cast<std::size_t>(m_first - power), 0);
        m_first = power;
    }
    const std::size_t bin = static_cast<std::size_t>(power - m_first);
    if (bin >= m_counts.size())
        m_counts.resize(bin + 1, 0);
    m_counts[bin] += count;
}

void PowerHistogram::merge(const PowerHistogram &other)
{
    m_zeros += other.m_zeros;
    for (const auto &[power, count] : other.bins())
        add(power, count);
}

std::vector<std::pair<int, std::uint64_t>> PowerHistogram::bins() const
{
    std::vector<std::pair<int, std::uint64_t>> result;
    for (std::size_t i = 0; i < m_counts.size(); ++i) {
        if (m_counts[i] != 0)
            result.emplace_back(m_first + static_cast<int>(i), m_counts[i]);
    }
    return result;
}

std::uint64_t PowerHistogram::total() const
{
    std::uint64_t sum = m_zeros;
    for (const std::uint64_t count : m_counts)
        sum += count;
    return sum;
}

void JointHistogram::add(const std::vector<Cell> &cells)
{
    const auto key = [](const Cell &cell) { return std::pair(cell.power, cell.ulpPower); };
    std::vector<Cell> merged;
    merged.reserve(m_cells.size() + cells.size());
    auto ours = m_cells.begin();
    for (const Cell &cell : cells) {
        while (ours != m_cells.end() && key(*ours) < key(cell))
            merged.push_back(*ours++);
        merged.push_back(cell);
        if (ours != m_cells.end() && key(*ours) == key(cell))
            merged.back().count += (ours++)->count;
    }
    merged.insert(merged.end(), ours, m_cells.end());
    m_cells = std::move(merged);
}

void JointHistogram::merge(const JointHistogram &other)
{
    m_zeros += other.m_zeros;
    add(other.m_cells);
}

void DiffStats::append(const DiffStats &next)
{
    elements += next.elements;
    differentElements += next.differentElements;
    if (firstIndex == NoIndex)
        firstIndex = next.firstIndex;
    if (next.lastIndex != NoIndex)
        lastIndex = next.lastIndex;
    finitePairs += next.finitePairs;
    // Integers: maxAbs is maxAbsInteger rounded, so the pair orders both kinds of types.
    const auto ours = std::pair(maxAbs, maxAbsInteger);
    const auto theirs = std::pair(next.maxAbs, next.maxAbsInteger);
    if (next.maxAbsIndex != NoIndex && (maxAbsIndex == NoIndex || theirs > ours)) {
        maxAbs = next.maxAbs;
        maxAbsInteger = next.maxAbsInteger;
        maxAbsIndex = next.maxAbsIndex;
    }
    if (next.maxUlpIndex != NoIndex && (maxUlpIndex == NoIndex || next.maxUlp > maxUlp)) {
        maxUlp = next.maxUlp;
        maxUlpIndex = next.maxUlpIndex;
    }
    nanA += next.nanA;
    nanB += next.nanB;
    infA += next.infA;
    infB += next.infB;
    nanPayloadOnly += next.nanPayloadOnly;
    signedZeroOnly += next.signedZeroOnly;
    signFlips += next.signFlips;
    beyondTolerance += next.beyondTolerance;
    valueDifferent += next.valueDifferent;
    sums.append(next.sums);
    magnitudes &= next.magnitudes;
    absA.merge(next.absA);
    absB.merge(next.absB);
    absDifference.merge(next.absDifference);
    ulp.merge(next.ulp);
    joint.merge(next.joint);
    leaves.insert(leaves.end(), next.leaves.begin(), next.leaves.end());
}

std::optional<double> DiffStats::meanAbs() const
{
    if (recorded)
        return recorded->meanAbs;
    if (finitePairs == 0)
        return std::nullopt;
    return meanOf(sums.total().absDifference, finitePairs);
}

std::optional<double> DiffStats::rms() const
{
    if (recorded)
        return recorded->rms;
    if (finitePairs == 0)
        return std::nullopt;
    return rootMeanOf(sums.total().squaredDifference, finitePairs);
}

std::optional<double> DiffStats::rmsA() const
{
    if (recorded)
        return recorded->rmsA;
    if (finitePairs == 0)
        return std::nullopt;
    return rootMeanOf(sums.total().squaredA, finitePairs);
}

std::optional<double> DiffStats::rmsB() const
{
    if (recorded)
        return recorded->rmsB;
    if (finitePairs == 0)
        return std::nullopt;
    return rootMeanOf(sums.total().squaredB, finitePairs);
}

std::optional<double> DiffStats::cosine() const
{
    if (recorded)
        return recorded->cosine;
    const DiffSums total = sums.total();
    const Scaled a = combine(total.squaredA);
    const Scaled b = combine(total.squaredB);
    const Scaled ab = combine(total.productAB);
    if (a.fraction == 0.0 || b.fraction == 0.0)
        return std::nullopt;
    // sqrt(x * x) is x in binary arithmetic, so equal sums give exactly 1.
    const int exponent = a.exponent + b.exponent;
    const int odd = exponent & 1;
    const double root = std::sqrt(std::ldexp(a.fraction * b.fraction, odd));
    return std::ldexp(ab.fraction / root, ab.exponent - (exponent - odd) / 2);
}

} // namespace forkpoint
