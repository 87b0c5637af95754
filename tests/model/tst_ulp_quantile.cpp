// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/ulp_quantile.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <random>

using namespace forkpoint;

namespace {

DiffStats countsOf(const std::vector<std::uint64_t> &distances)
{
    DiffStats stats;
    for (const std::uint64_t distance : distances) {
        if (distance == 0)
            stats.ulp.addZeros(1);
        else
            stats.ulp.add(int(std::bit_width(distance)) - 1);
        stats.maxUlp = std::max(stats.maxUlp, distance);
    }
    return stats;
}

/// By sorting, as the definition says it.
std::uint64_t nearestRank(std::vector<std::uint64_t> distances, unsigned hundredths)
{
    std::sort(distances.begin(), distances.end());
    const std::size_t rank = (distances.size() * hundredths + 99) / 100;
    return distances[rank - 1];
}

} // namespace

class TestUlpQuantile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knowsNothingOfNothing();
    void isExactWhereBinsAre();
    void boundsWhatSortingFinds();
};

void TestUlpQuantile::knowsNothingOfNothing()
{
    QVERIFY(!ulpPercentile(DiffStats(), 50));
    DiffStats odd; // as a report may say
    odd.ulp.add(-3);
    QVERIFY(!ulpPercentile(odd, 50));
}

void TestUlpQuantile::isExactWhereBinsAre()
{
    QVERIFY(ulpPercentile(countsOf({0, 0, 5}), 50) == (UlpRange{0, 0}));
    QVERIFY(ulpPercentile(countsOf({0, 1, 1}), 50) == (UlpRange{1, 1}));
    QVERIFY(ulpPercentile(countsOf({0, 0, 5}), 99) == (UlpRange{4, 5})); // never beyond the largest
    QVERIFY(ulpPercentile(countsOf({5, 6, 7, 100}), 50) == (UlpRange{4, 7}));
    const std::uint64_t largest = ~std::uint64_t(0);
    QVERIFY(ulpPercentile(countsOf({largest}), 50) == (UlpRange{std::uint64_t(1) << 63, largest}));
}

void TestUlpQuantile::boundsWhatSortingFinds()
{
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::uint64_t> distances(1 + random() % 300);
        for (std::uint64_t &distance : distances)
            distance = random() % 3 == 0 ? 0 : random() >> (random() % 64);
        const DiffStats stats = countsOf(distances);
        for (const unsigned hundredths : {1U, 50U, 90U, 99U, 100U}) {
            const std::uint64_t expected = nearestRank(distances, hundredths);
            const auto range = ulpPercentile(stats, hundredths);
            QVERIFY(range && range->least <= expected && expected <= range->most);
            QVERIFY(range->least == std::bit_floor(expected)); // and no wider than a bin
        }
    }
}

QTEST_GUILESS_MAIN(TestUlpQuantile)
#include "tst_ulp_quantile.moc"
