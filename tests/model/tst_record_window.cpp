// SPDX-License-Identifier: GPL-3.0-or-later
// The two lists side by side and one record over the steps: traces made by hand, answers counted by
// hand, and the comparer of traces, which goes another way, for the first difference.
#include "model/traces/record_drift.h"
#include "model/traces/record_window.h"
#include "model/traces/trace_comparer.h"
#include "tests/support/fake_trace.h"

#include <QtTest>

#include <map>
#include <set>

using namespace forkpoint;
using namespace forkpoint::test;
using Seek = RecordQuery::Seek;

namespace {

std::shared_ptr<FakeTrace> oneRank(std::vector<TraceRecord> records)
{
    auto trace = std::make_shared<FakeTrace>();
    trace->rank(0, std::move(records));
    return trace;
}

RecordWindow windowOf(std::shared_ptr<const Trace> a, std::shared_ptr<const Trace> b,
                      RecordQuery query = {})
{
    if (!query.iteration)
        query.iteration = 1;
    RecordWindowBuilder builder(std::move(a), std::move(b), std::move(query));
    for (;;) {
        const auto more = builder.advance({});
        if (!more.ok() || !*more)
            break;
    }
    return builder.window();
}

TraceRecord mm(std::uint64_t number, std::string out, DigestKind kind = DigestKind::Sha256)
{
    return call("mm", number, {}, {seen(std::move(out), kind)});
}

TraceRecord staged(std::string stage, std::string name, std::string out)
{
    TraceRecord record = call(name, 0, {}, {seen(std::move(out), DigestKind::Sha256)});
    record.key = stage + ' ' + name;
    record.stage = std::move(stage);
    return record;
}

/// Records 0 to count-1 of one kind; those in `changed` have another value.
std::vector<TraceRecord> many(std::uint64_t count, const std::set<std::uint64_t> &changed = {})
{
    std::vector<TraceRecord> records;
    for (std::uint64_t i = 0; i < count; ++i)
        records.push_back(mm(i, std::to_string(i) + (changed.count(i) > 0 ? " changed" : "")));
    return records;
}

QString signsOf(const RecordWindow &window)
{
    static const std::map<RecordStatus, char> Signs = {
        {RecordStatus::Equal, '='}, {RecordStatus::NoneSeen, '~'}, {RecordStatus::Different, '!'},
        {RecordStatus::Moved, 'm'}, {RecordStatus::OnlyA, 'A'},    {RecordStatus::OnlyB, 'B'}};
    QString text;
    for (const RecordRow &row : window.rows)
        text += QLatin1Char(Signs.count(row.status) > 0 ? Signs.at(row.status) : '?');
    return text;
}

std::uint64_t foundCall(const RecordWindow &window)
{
    return window.found ? window.rows[*window.found].record().call : 999'999;
}

RecordQuery seek(Seek how, std::uint64_t from = 0)
{
    RecordQuery query;
    query.seek = how;
    query.from = from;
    return query;
}

} // namespace

class RecordWindowTest : public QObject
{
    Q_OBJECT

private slots:
    void aRecordMoreShiftsNothing()
    {
        const RecordWindow window =
            windowOf(oneRank({mm(0, "p"), mm(1, "q"), mm(2, "r")}),
                     oneRank({mm(0, "p"), mm(1, "new"), mm(2, "q"), mm(3, "r")}));
        QVERIFY(window.complete);
        QCOMPARE(signsOf(window), QString("=B=="));
        QCOMPARE(window.found, std::optional<std::size_t>(1));
        QCOMPARE(window.counts.rows, std::uint64_t(4));
        QCOMPARE(window.counts.onlyB, std::uint64_t(1));
        QCOMPARE(window.counts.differences(), std::uint64_t(1));
        QVERIFY(window.rows[2].afterSlip);
    }

    void anotherOrderIsMoved()
    {
        const RecordWindow window =
            windowOf(oneRank({staged("grad", "x", "1"), staged("grad", "y", "2")}),
                     oneRank({staged("grad", "y", "2"), staged("grad", "x", "1")}));
        // One of the two stays where it is; which, the alignment decides.
        QCOMPARE(window.rows.size(), std::size_t(2));
        QCOMPARE(window.counts.moved, std::uint64_t(1));
        QCOMPARE(window.counts.rows, std::uint64_t(2));
        for (const RecordRow &row : window.rows)
            QVERIFY(row.a && row.b && row.a->record.name == row.b->record.name);
    }

    void weakDigestsAreNeverEqual()
    {
        const auto trace = oneRank({mm(0, "1", DigestKind::XorLanes), mm(1, "2"),
                                    call("mm", 2, {}, {absent(Absence::Null)})});
        const RecordWindow window = windowOf(trace, trace);
        QVERIFY(window.rows[0].status == RecordStatus::NoneSeen);
        QVERIFY(window.rows[1].status == RecordStatus::Equal);
        QVERIFY(window.rows[2].status == RecordStatus::NoValue);
        QVERIFY(!window.found);
        QCOMPARE(window.counts.differences(), std::uint64_t(0));
        QCOMPARE(window.counts.noneSeen, std::uint64_t(1));
    }

    void beginsAtTheFirstDifference()
    {
        const auto a = oneRank(many(5000)), b = oneRank(many(5000, {3000, 3100, 4999}));
        const RecordWindow window = windowOf(a, b);
        QCOMPARE(foundCall(window), std::uint64_t(3000));
        QCOMPARE(*window.found, RecordWindow::RowsBefore);
        QCOMPARE(window.rowsBefore, std::uint64_t(3000 - RecordWindow::RowsBefore));
        QCOMPARE(window.rows.size(), RecordWindow::RowsBefore + 1 + RecordWindow::RowsAfter);
        QCOMPARE(window.counts.rows, std::uint64_t(5000));
        QCOMPARE(window.counts.different, std::uint64_t(3));
    }

    void goesFromDifferenceToDifference()
    {
        const auto a = oneRank(many(5000)), b = oneRank(many(5000, {10, 3000, 3100, 4999}));
        QCOMPARE(foundCall(windowOf(a, b, seek(Seek::NextDifference, 10))), std::uint64_t(3000));
        QCOMPARE(foundCall(windowOf(a, b, seek(Seek::NextDifference, 3000))), std::uint64_t(3100));
        QVERIFY(!windowOf(a, b, seek(Seek::NextDifference, 4999)).found);
        for (const auto &[from, wanted] :
             {std::pair(4999u, 3100u), std::pair(3100u, 3000u), std::pair(3000u, 10u)}) {
            const RecordWindow window = windowOf(a, b, seek(Seek::PreviousDifference, from));
            QCOMPARE(foundCall(window), std::uint64_t(wanted));
            // What stands around it is what stands there.
            for (std::size_t i = 0; i < window.rows.size(); ++i)
                QCOMPARE(window.rows[i].record().call, window.rowsBefore + i);
        }
        QVERIFY(!windowOf(a, b, seek(Seek::PreviousDifference, 10)).found);
    }

    void pagesBothWays()
    {
        const auto a = oneRank(many(5000)), b = oneRank(many(5000));
        const RecordWindow later = windowOf(a, b, seek(Seek::At, 2500));
        QCOMPARE(foundCall(later), std::uint64_t(2500));
        const RecordWindow earlier = windowOf(a, b, seek(Seek::Before, 2400));
        QCOMPARE(foundCall(earlier), std::uint64_t(2399));
        QCOMPARE(earlier.rows[*earlier.found + 1].record().call, std::uint64_t(2400));
        QCOMPARE(earlier.rowsBefore + *earlier.found, std::uint64_t(2399));
        QVERIFY(!windowOf(a, b, seek(Seek::At, 5000)).found);
    }

    void listsAStage()
    {
        const auto a = oneRank({staged("forward", "x", "1"), staged("backward", "x", "2"),
                                staged("forward", "y", "3")});
        const auto b = oneRank({staged("forward", "x", "1"), staged("backward", "x", "changed"),
                                staged("forward", "y", "3")});
        RecordQuery query;
        query.stage = "forward";
        const RecordWindow forward = windowOf(a, b, query);
        QCOMPARE(signsOf(forward), QString("=="));
        QCOMPARE(forward.counts.differences(), std::uint64_t(0));
        QVERIFY(forward.stages == (std::vector<std::string>{"forward", "backward"}));
        query = {};
        query.seek = Seek::At;
        query.sought.stage = "backward";
        QCOMPARE(windowOf(a, b, query).found, std::optional<std::size_t>(1));
    }

    void findsTheNextOfTheSameName()
    {
        const auto a = oneRank({staged("op", "mm", "1"), staged("op", "add", "2")});
        std::vector<TraceRecord> other = {staged("op", "add", "2"), staged("op", "mul", "3"),
                                          staged("op", "mm", "1")};
        other[2].key = "op mm of another group"; // and so it is no partner
        RecordQuery query = seek(Seek::NextInB);
        query.sought.name = "mm";
        const RecordWindow window = windowOf(a, oneRank(std::move(other)), query);
        QVERIFY(window.found.has_value());
        const RecordRow &row = window.rows[*window.found];
        QVERIFY(!row.a && row.b);
        QCOMPARE(row.b->record.key, std::string("op mm of another group"));
    }

    void aHostileRecordStaysSmall()
    {
        TraceRecord huge = mm(0, "1");
        huge.name = std::string(10'000'000, 'x');
        huge.outputs.assign(5000, seen(std::string(10'000, 'f')));
        const ListedRecord kept = listed(huge);
        QCOMPARE(kept.outputs, std::uint64_t(5000));
        QVERIFY(kept.record.outputs.size() <= ListedRecord::MostObservations);
        QVERIFY(kept.record.name.size() <= ListedRecord::MostCharacters + 3);
        std::size_t texts = 0;
        for (const Observation &each : kept.record.outputs)
            texts += each.digest.size();
        QVERIFY(texts <= ListedRecord::MostBytes + 3 * ListedRecord::MostObservations);
        // Evidence is of the whole records: the last of 5000 differs.
        TraceRecord other = huge;
        other.outputs.back().digest = "another";
        const RecordWindow window = windowOf(oneRank({huge}), oneRank({other}));
        QVERIFY(window.rows[0].status == RecordStatus::Different);
        QCOMPARE(window.rows[0].evidence.outputs.different, std::uint64_t(1));
    }

    /// What a list keeps of a record suffices to place the difference.
    void keepsWhereTheLeavesAre()
    {
        TraceRecord record = mm(0, "aa");
        record.outputs.front().leaves = LeafRows{7, 3};
        const ListedRecord kept = listed(record);
        QVERIFY(kept.record.outputs.front().leaves);
        QCOMPARE(kept.record.outputs.front().leaves->first, std::uint64_t(7));
        QCOMPARE(kept.record.outputs.front().leaves->count, std::uint64_t(3));
    }

    /// Digests of leaves that say nothing, or contradict, take no text away.
    void showsTheSourceThoughTheLeavesContradict()
    {
        const auto trace = oneRank({mm(0, "aa")});
        RecordPlaces places;
        places.a = places.b = TracePlace{};
        places.leaves = {{false, "0", 32, 32768, {}, {}, {0, 2}, {0, 2}}}; // a trace without leaves
        const auto text = readRecordText(*trace, *trace, places, [] { return false; });
        QVERIFY(text.ok());
        QVERIFY(text->a && text->b && text->where.empty());
        QVERIFY(!text->whyNowhere.empty());
        const auto stopped = readRecordText(*trace, *trace, places, [] { return true; });
        QVERIFY(!stopped.ok() && stopped.error().code == ErrorCode::Cancelled);
    }

    void agreesWithTheComparison()
    {
        const auto a = std::make_shared<FakeTrace>(), b = std::make_shared<FakeTrace>();
        a->rank(0, many(300)).rank(1, many(700));
        b->rank(0, many(300)).rank(1, many(699, {400, 401}));
        TraceComparer comparer(a, b, {});
        while (comparer.advance({}))
            ;
        RecordQuery query;
        query.rank = 1;
        const RecordWindow window = windowOf(a, b, query);
        const TraceComparison &result = comparer.result();
        QCOMPARE(foundCall(window), result.ranks[1].first->record.call);
        QCOMPARE(window.counts.different, result.ranks[1].different);
        QCOMPARE(window.counts.onlyA, result.coverage.onlyA);
        query.rank = 0;
        QVERIFY(!windowOf(a, b, query).found);
    }

    void anIterationOfOneSideIsOnlyThere()
    {
        const auto a = std::make_shared<FakeTrace>(), b = std::make_shared<FakeTrace>();
        a->rankOf(0, {{1, many(3)}, {2, many(2)}});
        b->rankOf(0, {{2, many(2)}});
        const RecordWindow window = windowOf(a, b);
        QVERIFY(window.inA && !window.inB);
        QCOMPARE(signsOf(window), QString("AAA"));
    }

    void stopsAndRefuses()
    {
        std::stop_source stop;
        stop.request_stop();
        RecordWindowBuilder builder(oneRank(many(10)), oneRank(many(10)), {});
        const auto cancelled = builder.advance(stop.get_token());
        QVERIFY(!cancelled.ok() && cancelled.error().code == ErrorCode::Cancelled);
        RecordQuery query;
        query.rank = 7;
        RecordWindowBuilder nobody(oneRank(many(10)), oneRank(many(10)), query);
        QVERIFY(!nobody.advance({}).ok());
    }

    void followsARecordOverTheSteps()
    {
        const auto at = [](std::string digest, std::string norm) {
            TraceRecord record = mm(0, std::move(digest));
            record.outputs[0].statistics = {{"l2", std::move(norm)}};
            return record;
        };
        const auto a = std::make_shared<FakeTrace>(), b = std::make_shared<FakeTrace>();
        a->rankOf(0,
                  {{1, {at("1", "2.0")}},
                   {2, {at("2", "4.0")}},
                   {3, {at("3", "0.0")}},
                   {4, {mm(5, "other")}}});
        b->rankOf(0, {{1, {at("1", "2.0")}}, {2, {at("x", "5.0")}}, {3, {at("y", "1.0")}}});
        DriftBuilder builder(a, b, {0, listed(mm(0, "")).identity});
        while (builder.advance({}).value())
            ;
        const RecordDrift &drift = builder.drift();
        QVERIFY(drift.complete);
        QCOMPARE(drift.points.size(), std::size_t(3)); // step 4 has no such record
        QVERIFY(drift.points[0].status == RecordStatus::Equal);
        QVERIFY(drift.points[1].status == RecordStatus::Different);
        QCOMPARE(drift.points[0].statistics[0].relative(), std::optional(0.0));
        QCOMPARE(drift.points[1].statistics[0].relative(), std::optional(0.25)); // |5-4|/4
        QVERIFY(!drift.points[2].statistics[0].relative()); // of zero there is no share
    }
};

QTEST_APPLESS_MAIN(RecordWindowTest)
#include "tst_record_window.moc"
