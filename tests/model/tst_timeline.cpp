// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/timeline.h"

#include <QTest>

#include <random>

using namespace forkpoint;

namespace {

ChainLink link(std::int64_t step, const char *stage, LinkStatus status, std::uint64_t compared = 0,
               std::uint64_t different = 0)
{
    ChainLink link;
    link.step = step;
    link.stage = stage;
    link.status = status;
    link.compared = compared;
    link.different = different;
    return link;
}

} // namespace

class TestTimeline : public QObject
{
    Q_OBJECT

private slots:
    void rowsAreInCausalOrder()
    {
        const Timeline timeline(
            {link(7, "weight", LinkStatus::Equal), link(3, "loss", LinkStatus::Equal),
             link(3, "batch", LinkStatus::Equal), link(7, "own word", LinkStatus::Equal),
             link(7, "forward", LinkStatus::Equal)});
        QCOMPARE(timeline.rows(),
                 (std::vector<std::string>{"batch", "forward", "loss", "weight", "own word"}));
        QCOMPARE(timeline.steps(), (std::vector<std::int64_t>{3, 7}));
        QCOMPARE(timeline.columnFrom(3.5), std::size_t(1));
        QVERIFY(!timeline.link(0, 1)); // no batch at step 7
        QVERIFY(!timeline.over(0, 1, 2).status);
        QCOMPARE(timeline.link(4, 1)->stage, std::string("own word"));
    }

    /// Against a count of every stretch, one cell after the other.
    void stretchesAreSummed()
    {
        std::mt19937 random(5);
        std::vector<ChainLink> links;
        constexpr std::int64_t Steps = 60;
        for (std::int64_t step = 0; step < Steps; ++step) {
            if (random() % 3 == 0)
                continue;
            links.push_back(
                link(step, "forward", LinkStatus(random() % 4), random() % 50, random() % 9));
        }
        const Timeline timeline(links);
        // From the most telling to the least.
        const LinkStatus order[] = {LinkStatus::Different, LinkStatus::Undecided, LinkStatus::Equal,
                                    LinkStatus::NotRecorded};
        for (std::size_t first = 0; first < links.size(); ++first) {
            for (std::size_t end = first + 1; end <= links.size(); ++end) {
                Timeline::Cell expected;
                for (const LinkStatus status : order) {
                    for (std::size_t i = first; i < end && !expected.status; ++i) {
                        if (links[i].status == status)
                            expected.status = status;
                    }
                }
                for (std::size_t i = first; i < end; ++i) {
                    expected.compared += links[i].compared;
                    expected.different += links[i].different;
                }
                QVERIFY(timeline.over(0, first, end) == expected);
            }
        }
    }

    void oneDifferenceOfAMillionIsSeen()
    {
        std::vector<ChainLink> links;
        for (std::int64_t step = 0; step < 1'000'000; ++step)
            links.push_back(link(step, "grad", LinkStatus::Equal, 10));
        links[654'321].status = LinkStatus::Different;
        links[654'321].different = 1;
        const Timeline timeline(links);
        const Timeline::Cell all = timeline.over(0, 0, links.size());
        QVERIFY(all.status == LinkStatus::Different);
        QCOMPARE(all.different, std::uint64_t(1));
        QCOMPARE(all.compared, std::uint64_t(10'000'000));
        QVERIFY(timeline.over(0, 654'322, links.size()).status == LinkStatus::Equal);
    }

    void linksWithoutAStepHaveNoColumn()
    {
        ChainLink loose = link(0, "batch", LinkStatus::Equal);
        loose.step.reset();
        QVERIFY(Timeline({loose}).isEmpty());
        QVERIFY(Timeline().isEmpty());
    }
};

QTEST_APPLESS_MAIN(TestTimeline)
#include "tst_timeline.moc"
