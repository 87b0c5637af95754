// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks and micro-batches as rows of the timeline: which share one, what it is called, its sums.
#include "model/traces/timeline_rows.h"
#include "tests/support/compared_traces.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Steps = std::map<std::int64_t, std::vector<TraceRecord>>;

TraceRecord op(const std::string &in, const std::string &out, std::int64_t microBatch)
{
    TraceRecord record = call("aten.mm.default", std::uint64_t(microBatch),
                              {seen(in, DigestKind::Sha256)}, {seen(out, DigestKind::Sha256)});
    record.microBatch = microBatch;
    return record;
}

/// Two micro-batches in each of two steps; the outputs of the second step's are these.
Steps steps(const std::string &first, const std::string &second, const std::string &in = "i")
{
    return {{1, {op("i", "o", 0), op("i", "o", 1)}}, {2, {op(in, first, 0), op(in, second, 1)}}};
}

std::vector<std::string> namesOf(const std::vector<TimelineRow> &rows)
{
    std::vector<std::string> names;
    for (const TimelineRow &row : rows)
        names.push_back(row.name);
    return names;
}

RankComparison rankAt(std::int64_t tp, std::int64_t dp, LinkStatus status)
{
    RankComparison rank;
    rank.coordinate.axes = {{"pp", 0}, {"tp", tp}, {"dp", dp}};
    rank.links = {{1, {}, status, 1, 0, Strength::Sha256}};
    return rank;
}

} // namespace

class TestTimelineRows : public QObject
{
    Q_OBJECT

private slots:
    void ranksThatBehaveAlikeShareARow()
    {
        FakeTrace a, b;
        for (int rank = 0; rank < 5; ++rank)
            a.rankOf(rank, steps("o", "o"));
        b.rankOf(0, steps("o", "o"));
        b.rankOf(1, steps("o", "x"));      // origin: equal inputs
        b.rankOf(2, steps("x", "x", "j")); // receiver
        b.rankOf(3, steps("o", "o"));
        b.rankOf(4, steps("y", "o", "j")); // receiver likewise
        const TraceComparison compared = test::compared(a, b);
        const std::vector<TimelineRow> rows = rowsOfRanks(compared);
        QCOMPARE(
            namesOf(rows),
            (std::vector<std::string>{"ranks 0, 3", "rank 1 (origin)", "ranks 2, 4 (receiver)"}));
        QCOMPARE(rows[2].members, (std::vector<std::size_t>{2, 4}));
        // Two ranks of two calls of an input and an output: of rank 2 all four differ, of rank 4 the
        // two inputs and one output.
        QCOMPARE(rows[2].links.size(), std::size_t(2));
        QCOMPARE(rows[2].links[0].different, std::uint64_t(0));
        QCOMPARE(rows[2].links[1].compared, std::uint64_t(8));
        QCOMPARE(rows[2].links[1].different, std::uint64_t(7));
        QVERIFY(rows[2].links[1].status == LinkStatus::Different);
        QVERIFY(rows[0].links[1].status == LinkStatus::Equal);
        QCOMPARE(linksOf(rows).size(), std::size_t(6));
    }

    void microBatchesAreRowsOverAllRanks()
    {
        FakeTrace a, b;
        a.rankOf(0, steps("o", "o")).rankOf(1, steps("o", "o"));
        b.rankOf(0, steps("o", "o")).rankOf(1, steps("o", "x"));
        const auto rows = rowsOfMicroBatches(test::compared(a, b));
        QCOMPARE(namesOf(rows), (std::vector<std::string>{"micro-batch 0", "micro-batch 1"}));
        QVERIFY(rows[0].links[1].status == LinkStatus::Equal);
        QCOMPARE(rows[1].links[1].compared, std::uint64_t(4));
        QCOMPARE(rows[1].links[1].different, std::uint64_t(1));
        const auto alike = rowsOfMicroBatches(test::compared(a, a));
        QCOMPARE(namesOf(alike), (std::vector<std::string>{"micro-batches 0, 1"}));
    }

    void aRecordOfOneSideDiffersInItsRows()
    {
        FakeTrace a, b;
        a.rankOf(0, steps("o", "o"));
        Steps fewer = steps("o", "o");
        fewer[2].pop_back();
        b.rankOf(0, fewer);
        const TraceComparison compared = test::compared(a, b);
        QVERIFY(rowsOfRanks(compared)[0].links[1].status == LinkStatus::Different);
        QVERIFY(rowsOfMicroBatches(compared)[1].links[1].status == LinkStatus::Different);
    }

    void axesAreNamedWhereTheyTellRanksApart()
    {
        TraceComparison trace;
        for (const int tp : {0, 1}) {
            for (const int dp : {0, 1, 2, 3})
                trace.ranks.push_back(
                    rankAt(tp, dp, tp == 1 && dp == 1 ? LinkStatus::Undecided : LinkStatus::Equal));
        }
        // Seven of eight are no block; the other one is.
        QCOMPARE(namesOf(rowsOfRanks(trace)),
                 (std::vector<std::string>{"pp 0, tp 0, dp 0 and 6 more", "tp 1, dp 1"}));
        for (RankComparison &rank : trace.ranks)
            rank.links[0].status =
                rank.coordinate.axes[1].second == 1 ? LinkStatus::Undecided : LinkStatus::Equal;
        QCOMPARE(namesOf(rowsOfRanks(trace)),
                 (std::vector<std::string>{"tp 0, dp 0-3", "tp 1, dp 0-3"}));
    }

    void whatIsTooMuchSharesTheLastRow()
    {
        TraceComparison trace;
        constexpr int Ranks = 40;
        for (int number = 0; number < Ranks; ++number) { // each parts at a step of its own
            RankComparison rank;
            rank.coordinate.rank = number;
            rank.links = {{number, {}, LinkStatus::Different, 2, 1, Strength::Sha256}};
            trace.ranks.push_back(rank);
        }
        const std::vector<TimelineRow> rows = rowsOfRanks(trace);
        QCOMPARE(rows.size(), MostTimelineRows);
        QCOMPARE(rows.back().name, std::string("25 others, of 25 kinds"));
        QCOMPARE(rows.back().members.size(), std::size_t(Ranks) - MostTimelineRows + 1);
        QCOMPARE(rows.back().links.size(), rows.back().members.size());
        QCOMPARE(rows.front().name, std::string("rank 0"));
    }
};

QTEST_GUILESS_MAIN(TestTimelineRows)
#include "tst_timeline_rows.moc"
