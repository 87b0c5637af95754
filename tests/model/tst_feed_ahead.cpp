// SPDX-License-Identifier: GPL-3.0-or-later
// Records that a second thread reads ahead come in their order, and say what they say without it.
#include "model/traces/feed_ahead.h"
#include "model/traces/trace_walk.h"
#include "tests/support/compared_traces.h"

#include <QtTest>

#include <thread>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// A thread for each piece of work.
class Threads final : public Executor
{
public:
    std::size_t threadCount() const override { return 2; }
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override
    {
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < count; ++i)
            threads.emplace_back(work, i);
        for (std::thread &thread : threads)
            thread.join();
    }
};

/// More than the batches that are read ahead hold; every tenth output is another one in B.
void fill(FakeTrace &trace, bool isB)
{
    std::vector<TraceRecord> records;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        if (!isB || i != 2500) // a record that B lacks
            records.push_back(
                call("op", i, {seen("1")}, {seen(isB && i > 3000 && i % 10 == 0 ? "t" : "s")}));
    }
    trace.rank(0, std::move(records));
}

} // namespace

class FeedAheadTest : public QObject
{
    Q_OBJECT

private slots:
    void whatIsReadAheadComesInItsOrder()
    {
        FakeTrace trace;
        fill(trace, false);
        TraceFeed feed(trace, 0, {0}, nullptr);
        FeedAhead ahead(feed);
        Threads threads;
        std::vector<std::uint64_t> calls;
        threads.forEach(2, [&](std::size_t task) {
            if (task == 1)
                return ahead.produce();
            FoundRecord found;
            while (ahead.next(found).value())
                calls.push_back(found.take().call);
            ahead.stop();
        });
        QCOMPARE(calls.size(), std::size_t(5000));
        for (std::size_t i = 0; i < calls.size(); ++i)
            QCOMPARE(calls[i], std::uint64_t(i));
    }

    /// Who takes stops first: the thread that reads must not wait for room for ever.
    void itEndsWhenNobodyTakes()
    {
        FakeTrace trace;
        fill(trace, false);
        TraceFeed feed(trace, 0, {0}, nullptr);
        FeedAhead ahead(feed);
        Threads().forEach(2, [&](std::size_t task) {
            if (task == 1)
                return ahead.produce();
            FoundRecord found;
            QVERIFY(ahead.next(found).value());
            ahead.stop();
        });
    }

    void theComparisonIsTheSame()
    {
        FakeTrace a, b;
        fill(a, false);
        fill(b, true);
        const TraceComparison alone = compared(a, b);
        Threads threads;
        TraceComparer comparer(shared(a), shared(b), {}, &threads);
        while (comparer.advance({}))
            ;
        const TraceComparison &both = comparer.result();
        QCOMPARE(both.coverage.records, std::uint64_t(4999));
        QCOMPARE(both.coverage.records, alone.coverage.records);
        QCOMPARE(both.coverage.onlyA, std::uint64_t(1));
        QCOMPARE(both.ranks[0].different, alone.ranks[0].different);
        QCOMPARE(both.ranks[0].first->record.call, alone.ranks[0].first->record.call);
        QCOMPARE(both.ranks[0].first->equalBefore, alone.ranks[0].first->equalBefore);
    }
};

QTEST_APPLESS_MAIN(FeedAheadTest)
#include "tst_feed_ahead.moc"
