// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks held to each other: who is in one process group, and what several ranks say together.
#include "model/traces/group_layout.h"
#include "tests/support/compared_traces.h"

#include <QtTest>

#include <algorithm>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Tie = GroupLayout::Tie;

/// The halves of a collective as Core's typed traces write them.
std::vector<TraceRecord> reduction(int size, int number, const std::string &input,
                                   const std::string &output)
{
    TraceRecord begin = call("grads.begin", 0, {seen(input)}, {});
    begin.role = RecordRole::CollectiveBegin;
    begin.group = "grads";
    begin.fields = {{"group_size", std::to_string(size)}, {"group_rank", std::to_string(number)}};
    TraceRecord end = call("grads.end", 0, {}, {seen(output)});
    end.role = RecordRole::CollectiveEnd;
    end.group = begin.group;
    end.fields = begin.fields;
    return {begin, end};
}

QString classOf(const TraceComparison &result, std::size_t rank)
{
    const std::string_view word =
        toString(result.ranks[rank].first->classification.divergenceClass);
    return QString::fromUtf8(word.data(), qsizetype(word.size()));
}

QString finding(const TraceComparison &result, std::string_view id)
{
    const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                    [&](const Finding &each) { return each.id == id; });
    return found == result.findings.end() ? QString() : QString::fromStdString(found->text);
}

} // namespace

class RankLinksTest : public QObject
{
    Q_OBJECT

private slots:
    /// Of a grid of tp 2 and dp 2 by hand: tp joins 0 and 1, and 2 and 3; dp joins 0 and 2, and 1 and 3.
    void ranksAndTheirNumbersTellTheGroup()
    {
        GroupLayout tp, dp;
        for (const int rank : {0, 1, 2, 3}) {
            tp.add(rank, 2, std::uint64_t(rank % 2));
            dp.add(rank, 2, std::uint64_t(rank / 2));
        }
        QVERIFY(tp.tie(0, 1) == Tie::Joined && tp.tie(2, 3) == Tie::Joined);
        QVERIFY(tp.tie(0, 2) == Tie::Apart && tp.tie(0, 3) == Tie::Apart);
        QVERIFY(dp.tie(0, 2) == Tie::Joined && dp.tie(0, 1) == Tie::Apart);
        QVERIFY(tp.isWhole(0) && dp.isWhole(3));
    }

    /// Ranks 0 and 3 alone, first and second of their groups of two: one group where tp is 3, two where
    /// it is 1 or 2.
    void whatSeveralLayoutsExplainIsOpen()
    {
        GroupLayout layout;
        layout.add(0, 2, 0);
        layout.add(3, 2, 1);
        QVERIFY(layout.tie(0, 3) == Tie::Open);
        QVERIFY(!layout.isWhole(0));
        GroupLayout alone; // groups of one: every stride fits
        for (const std::int64_t rank : {7, 100})
            alone.add(rank, 1, 0);
        QVERIFY(alone.isWhole(100));
        QVERIFY(alone.tie(100, 7) == Tie::Apart);
        GroupLayout irregular; // no stride gives 0, 1, 1, 0
        for (const int rank : {0, 1, 2, 3})
            irregular.add(rank, 2, rank == 1 || rank == 2 ? 1 : 0);
        QVERIFY(irregular.tie(0, 1) == Tie::Open && !irregular.isWhole(0));
        GroupLayout contradicting;
        contradicting.add(0, 2, 0);
        contradicting.add(0, 2, 1);
        QVERIFY(!contradicting.isWhole(0));
        GroupLayout beyond; // a hostile file: number 5 of 2
        beyond.add(0, 2, 5);
        QVERIFY(!beyond.isWhole(0));
    }

    /// The grid of a typed trace is stated nowhere, the group of a collective in each of its records.
    void aWholeGroupIsEnoughToBlameItsCollective() // M10, M19
    {
        FakeTrace a, b;
        for (const int rank : {0, 1}) { // of a job of any size
            a.rank(rank, reduction(2, rank, "1", "s"));
            b.rank(rank, reduction(2, rank, "1", "t"));
        }
        const TraceComparison whole = compared(a, b);
        QCOMPARE(classOf(whole, 0), QString("origin"));
        QCOMPARE(classOf(whole, 1), QString("origin"));
        FakeTrace halfA, halfB;
        for (const int rank : {0, 1}) { // two of four
            halfA.rank(rank, reduction(4, rank, "1", "s"));
            halfB.rank(rank, reduction(4, rank, "1", "t"));
        }
        QCOMPARE(classOf(compared(halfA, halfB), 0), QString("unclassified"));
    }

    /// Four ranks in groups of two: the input of rank 3 explains rank 2, and says nothing of rank 0.
    void aRankOfAnotherGroupExplainsNothing() // M11
    {
        FakeTrace a, b;
        for (const int rank : {0, 1, 2, 3}) {
            a.rank(rank, reduction(2, rank % 2, "1", "s"));
            b.rank(rank, reduction(2, rank % 2, rank == 3 ? "2" : "1", "t"));
        }
        const TraceComparison result = compared(a, b);
        QCOMPARE(classOf(result, 0), QString("origin"));
        QCOMPARE(classOf(result, 1), QString("origin"));
        QCOMPARE(classOf(result, 2), QString("receiver"));
        QVERIFY(result.ranks[2].first->classification.innocentCollective);
    }

    void axesAndTheirSizesMakeAGroupWhole() // M19
    {
        FakeTrace a, b;
        for (FakeTrace *trace : {&a, &b}) {
            trace->facts = {{TraceFact::Role::Parallel, "world_size", "4"},
                            {TraceFact::Role::Parallel, "tp", "2"},
                            {TraceFact::Role::Parallel, "dp", "2"}};
            for (const int rank : {0, 1})
                trace->rank(rank,
                            {collective("tp", {seen("1")}, {seen(trace == &a ? "s" : "t")}),
                             collective("dp", {seen("1")}, {seen("u")})});
            trace->place(0, {{"tp", 0}, {"dp", 0}}).place(1, {{"tp", 1}, {"dp", 0}});
        }
        QCOMPARE(classOf(compared(a, b), 0), QString("origin"));
    }

    void unlikeOriginsAreNamedEach() // M10
    {
        FakeTrace a, b;
        for (const int rank : {0, 1, 2}) {
            const std::string name = rank == 2 ? "aten.mm" : "aten.bmm";
            a.rank(rank, {call(name, 0, {seen("1")}, {seen("s")})});
            b.rank(rank, {call(name, 0, {seen("1")}, {seen("t")})});
        }
        const TraceComparison result = compared(a, b);
        QCOMPARE(finding(result, "origins"),
                 QString("origins at aten.bmm (rank 0; rank 1); aten.mm (rank 2)"));
        FakeTrace c, d; // one name, unlike calls of it
        for (const int rank : {0, 1}) {
            for (FakeTrace *trace : {&c, &d})
                trace->rank(rank,
                            {call("aten.mm", std::uint64_t(rank), {seen("1")},
                                  {seen(trace == &c ? "s" : "t")})});
        }
        QCOMPARE(finding(compared(c, d), "origins"),
                 QString("origins at aten.mm, number 0 (rank 0); aten.mm, number 1 (rank 1)"));
        QVERIFY(finding(compared(c, d), "origin-everywhere").isEmpty());
    }
};

QTEST_APPLESS_MAIN(RankLinksTest)
#include "tst_rank_links.moc"
