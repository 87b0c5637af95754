// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/byte_pairs.h"

#include <algorithm>
#include <memory>

namespace forkpoint {

PairCounts &threadPairCounts()
{
    static thread_local const std::unique_ptr<PairCounts> counts = std::make_unique<PairCounts>();
    return *counts;
}

void ExactSums::add(std::int64_t a, std::int64_t b, std::uint32_t count)
{
    const Wide difference = a > b ? Wide(a) - b : Wide(b) - a;
    absDifference += difference * count;
    squaredDifference += difference * difference * count;
    productAB += Wide(a) * b * count;
    squaredA += Wide(a) * a * count;
    squaredB += Wide(b) * b * count;
}

bool ExactSums::fitDoubles() const
{
    // Sums of squares bound each of their terms and partial sums, and those of the products: |ab|
    // is at most half of a a + b b.
    constexpr Wide Exact = Wide(1) << 53;
    return squaredA <= Exact && squaredB <= Exact && squaredDifference <= Exact
        && absDifference <= Exact;
}

kernels::BlockSums ExactSums::toBlockSums(int lowest) const
{
    const double unit = kernels::powerOfTwo(lowest);
    const double square = kernels::powerOfTwo(2 * lowest);
    const auto sum = [](Wide value, double scale) {
        return kernels::RangeSum{0.0, static_cast<double>(static_cast<std::int64_t>(value)) * scale,
                                 0.0};
    };
    return {sum(absDifference, unit), sum(squaredDifference, square), sum(productAB, square),
            sum(squaredA, square), sum(squaredB, square)};
}

BytePairDiff::BytePairDiff(const ByteMeaning &meaning, CountPairsKernel kernel,
                           const std::uint8_t *a, const std::uint8_t *b, std::size_t size)
    : m_meaning(meaning),
      m_counts(threadPairCounts()),
      m_a(a),
      m_b(b),
      m_size(size)
{
    for (std::size_t first = 0; first < size; first += LeafBytes) {
        const std::size_t count = std::min<std::size_t>(LeafBytes, size - first);
        Leaf peaks;
        LeafFacts facts;
        m_counts.addLeaf(
            kernel, a + first, b + first, count, [&](std::size_t pair, std::uint32_t times) {
                const std::size_t x = pair % 256, y = pair / 256;
                facts.different += x != y ? times : 0;
                if (!meaning.finite[x] || !meaning.finite[y])
                    return;
                const std::int64_t ulp = std::abs(meaning.orders[x] - meaning.orders[y]);
                const std::int64_t units = std::abs(meaning.units[x] - meaning.units[y]);
                peaks.maxUlp = std::max(peaks.maxUlp, ulp);
                peaks.maxUnits = std::max(peaks.maxUnits, units);
                m_sums.add(meaning.units[x], meaning.units[y], times);
            });
        if (peaks.maxUnits > 0)
            facts.largestPower = static_cast<std::int16_t>(
                meaning.lowest + kernels::highestBit(static_cast<std::uint64_t>(peaks.maxUnits)));
        m_peaks.push_back(peaks);
        m_leaves.push_back(facts);
    }
}

BytePairDiff::~BytePairDiff()
{
    m_counts.take([](std::size_t, std::uint32_t) {});
}

void BytePairDiff::locateDifferences(std::uint64_t firstElement, kernels::DiffRecord &record) const
{
    const auto differs = [](const LeafFacts &leaf) { return leaf.different != 0; };
    const auto firstLeaf = std::find_if(m_leaves.begin(), m_leaves.end(), differs);
    if (firstLeaf == m_leaves.end())
        return;
    std::size_t first = static_cast<std::size_t>(firstLeaf - m_leaves.begin()) * LeafBytes;
    while (m_a[first] == m_b[first])
        ++first;
    const auto lastLeaf = std::find_if(m_leaves.rbegin(), m_leaves.rend(), differs);
    std::size_t end = static_cast<std::size_t>(m_leaves.rend() - lastLeaf) * LeafBytes;
    end = std::min(end, m_size);
    while (m_a[end - 1] == m_b[end - 1])
        --end;
    record.first = firstElement + first;
    record.last = firstElement + end - 1;
}

/// The first pair from that leaf on that is finite and `matches`.
template <class Matches>
std::uint64_t BytePairDiff::find(std::size_t firstLeaf, Matches matches) const
{
    for (std::size_t i = firstLeaf * LeafBytes; i < m_size; ++i) {
        if (m_meaning.finite[m_a[i]] && m_meaning.finite[m_b[i]] && matches(m_a[i], m_b[i]))
            return i;
    }
    return kernels::NoPosition;
}

void BytePairDiff::locateMaxima(std::uint64_t firstElement, bool isFloat,
                                const kernels::DiffRecord &before,
                                kernels::DiffRecord &record) const
{
    const auto atUnits =
        std::max_element(m_peaks.begin(), m_peaks.end(), [](const Leaf &left, const Leaf &right) {
            return left.maxUnits < right.maxUnits;
        });
    const auto atUlp =
        std::max_element(m_peaks.begin(), m_peaks.end(), [](const Leaf &left, const Leaf &right) {
            return left.maxUlp < right.maxUlp;
        });
    if (m_peaks.empty() || atUnits->maxUnits < 0)
        return;
    const auto units = static_cast<std::uint64_t>(atUnits->maxUnits);
    record.maxAbsKey = !isFloat || units == 0
        ? units
        : kernels::bitsFromDouble(static_cast<double>(units)
                                  * kernels::powerOfTwo(m_meaning.lowest));
    if (before.maxAbsIndex == kernels::NoPosition || record.maxAbsKey > before.maxAbsKey)
        record.maxAbsIndex = firstElement
            + find(static_cast<std::size_t>(atUnits - m_peaks.begin()),
                   [&](std::uint8_t a, std::uint8_t b) {
                       return std::abs(m_meaning.units[a] - m_meaning.units[b])
                           == atUnits->maxUnits;
                   });
    if (!isFloat)
        return;
    record.maxUlp = static_cast<std::uint64_t>(atUlp->maxUlp);
    if (before.maxUlpIndex == kernels::NoPosition || record.maxUlp > before.maxUlp)
        record.maxUlpIndex = firstElement
            + find(static_cast<std::size_t>(atUlp - m_peaks.begin()),
                   [&](std::uint8_t a, std::uint8_t b) {
                       return std::abs(m_meaning.orders[a] - m_meaning.orders[b]) == atUlp->maxUlp;
                   });
}

} // namespace forkpoint
