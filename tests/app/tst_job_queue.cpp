// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/job_queue.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace forkpoint;
using namespace std::chrono_literals;

namespace {

/// A door that a batch waits at, as a read waits at a dead mount.
class Gate
{
public:
    void wait()
    {
        std::unique_lock lock(m_mutex);
        m_reached = true;
        m_changed.notify_all();
        m_changed.wait(lock, [&] { return m_open; });
    }
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_changed.notify_all();
    }
    void waitUntilReached()
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_reached; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_reached = false;
    bool m_open = false;
};

/// What happened, in order, from whichever thread.
class Log
{
public:
    void add(const QString &line)
    {
        const std::lock_guard lock(m_mutex);
        m_lines << line;
    }
    QStringList lines() const
    {
        const std::lock_guard lock(m_mutex);
        return m_lines;
    }
    bool contains(const QString &line) const { return lines().contains(line); }

private:
    mutable std::mutex m_mutex;
    QStringList m_lines;
};

QString name(JobEnd end)
{
    switch (end) {
    case JobEnd::Finished: return "finished";
    case JobEnd::Failed: return "failed";
    case JobEnd::Cancelled: return "cancelled";
    }
    return {};
}

/// A queue whose jobs write what happens to them into a log.
struct Fixture
{
    // What the threads use is declared first, so that it is there until they have ended.
    Log log;
    TaskLoop loop;
    JobQueue queue{loop, 50ms};

    ~Fixture()
    {
        queue.shutdown(2s);
        loop.quit();
    }

    Job job(const QString &title, std::function<Result<Batch>(JobControl &)> batch,
            Lane lane = Lane::Background, const std::string &tag = {})
    {
        return {title.toStdString(), tag, lane, std::move(batch),
                [this, title](JobEnd end, const Error *error) {
                    log.add(title + ' ' + name(end)
                            + (error ? ": " + QString::fromStdString(error->text) : QString()));
                }};
    }
    /// Adds a job the way everybody must: on the loop's thread.
    void add(Job job)
    {
        loop.post([this, job = std::move(job)]() mutable { queue.add(std::move(job)); });
    }
    void onLoop(std::function<void()> task) { loop.post(std::move(task)); }
};

Result<Batch> done(JobControl &)
{
    return Batch::Done;
}

} // namespace

class TestJobQueue : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void finishes();
    void fails();
    void failsWithoutMemory();
    void interactiveWaitsOneBatch();
    void lanesTakeTurns();
    void newerDropsOlderOfItsTag();
    void newerStopsTheRunningOfItsTag();
    void cancelsWhatIsQueued();
    void cancelsBetweenBatches();
    void stoppedJobNeverFinishes();
    void abandonsAStuckBatch();
    void abandonedWorkIsHeardNoMore();
    void patientWithABatchThatReturns();
    void postsComeBeforeTheEnd();
    void reportsProgress();
    void shutdownWaits();
    void shutdownLeavesWhatIsStuck();
    void shutdownTellsOfAThreadGivenUpBefore();
    void addAfterShutdownEnds();
    void everyStartHasOneEnd();
};

void TestJobQueue::finishes()
{
    Fixture f;
    f.add(f.job("a", done));
    f.add(f.job("b", done));
    QTRY_COMPARE(f.log.lines(), QStringList({"a finished", "b finished"}));
}

void TestJobQueue::fails()
{
    Fixture f;
    f.add(f.job("a", [](JobControl &) -> Result<Batch> {
        return Error{ErrorCode::Io, "w.pt", "", "cannot be read"};
    }));
    QTRY_COMPARE(f.log.lines(), QStringList({"a failed: cannot be read"}));
}

void TestJobQueue::failsWithoutMemory()
{
    Fixture f;
    f.add(f.job("greedy", [](JobControl &) -> Result<Batch> { throw std::bad_alloc(); }));
    f.add(f.job("modest", done));
    QTRY_VERIFY(f.log.contains("modest finished"));
    QVERIFY(f.log.contains("greedy failed: needs more memory than there is"));
}

void TestJobQueue::interactiveWaitsOneBatch()
{
    Gate gate;
    Fixture f;
    f.add(f.job("long", [&f, &gate, n = 0](JobControl &) mutable -> Result<Batch> {
        f.log.add(QString("batch %1").arg(n));
        if (n == 1)
            gate.wait();
        return ++n < 4 ? Batch::More : Batch::Done;
    }));
    gate.waitUntilReached();
    f.add(f.job(
        "click",
        [&f](JobControl &) -> Result<Batch> {
            f.log.add("click runs");
            return Batch::Done;
        },
        Lane::Interactive));
    f.onLoop([&] { gate.open(); });
    QTRY_VERIFY(f.log.contains("long finished"));
    QVERIFY(f.log.contains("click finished"));
    // The order of batches is the queue's; when an end is told beside them is the loop's affair.
    QStringList batches = f.log.lines();
    batches.removeAll("click finished");
    QCOMPARE(
        batches,
        QStringList({"batch 0", "batch 1", "click runs", "batch 2", "batch 3", "long finished"}));
}

void TestJobQueue::lanesTakeTurns()
{
    Gate gate;
    Fixture f;
    f.add(f.job("gate", [&](JobControl &) -> Result<Batch> {
        gate.wait();
        return Batch::Done;
    }));
    gate.waitUntilReached();
    for (const char *title : {"x", "y"})
        f.add(f.job(title, [&f, title, n = 0](JobControl &) mutable -> Result<Batch> {
            f.log.add(QString("%1%2").arg(title).arg(n));
            return ++n < 2 ? Batch::More : Batch::Done;
        }));
    f.onLoop([&] { gate.open(); });
    QTRY_VERIFY(f.log.contains("y finished"));
    QStringList batches = f.log.lines().filter(QRegularExpression("^[xy][0-9]$"));
    QCOMPARE(batches, QStringList({"x0", "y0", "x1", "y1"}));
}

void TestJobQueue::newerDropsOlderOfItsTag()
{
    Gate gate;
    Fixture f;
    f.add(f.job("gate", [&](JobControl &) -> Result<Batch> {
        gate.wait();
        return Batch::Done;
    }));
    gate.waitUntilReached();
    for (const char *title : {"rows 1", "rows 2", "rows 3"})
        f.add(f.job(title, done, Lane::Interactive, "rows"));
    f.add(f.job("other", done, Lane::Interactive, "other"));
    f.onLoop([&] { gate.open(); });
    QTRY_COMPARE(f.log.lines().size(), 5);
    QVERIFY(f.log.contains("rows 1 cancelled"));
    QVERIFY(f.log.contains("rows 2 cancelled"));
    QVERIFY(f.log.contains("rows 3 finished"));
    QVERIFY(f.log.contains("other finished"));
}

void TestJobQueue::newerStopsTheRunningOfItsTag()
{
    Gate started;
    Fixture f;
    f.add(f.job(
        "old",
        [&](JobControl &control) -> Result<Batch> {
            started.open();
            started.wait();
            while (!control.stop().stop_requested())
                std::this_thread::sleep_for(1ms);
            return Batch::Done;
        },
        Lane::Interactive, "rows"));
    started.waitUntilReached();
    f.add(f.job("new", done, Lane::Interactive, "rows"));
    QTRY_COMPARE(f.log.lines(), QStringList({"old cancelled", "new finished"}));
}

void TestJobQueue::cancelsWhatIsQueued()
{
    Gate gate;
    Fixture f;
    f.add(f.job("gate", [&](JobControl &) -> Result<Batch> {
        gate.wait();
        return Batch::Done;
    }));
    gate.waitUntilReached();
    std::atomic<bool> ran = false;
    f.onLoop([&] {
        const JobId id = f.queue.add(f.job("queued", [&](JobControl &) -> Result<Batch> {
            ran = true;
            return Batch::Done;
        }));
        f.queue.cancel(id);
    });
    QTRY_COMPARE(f.log.lines(), QStringList({"queued cancelled"}));
    gate.open();
    QTRY_COMPARE(f.log.lines(), QStringList({"queued cancelled", "gate finished"}));
    QVERIFY(!ran);
}

void TestJobQueue::cancelsBetweenBatches()
{
    std::atomic<int> batches = 0;
    Fixture f;
    f.add(f.job("long", [&](JobControl &) -> Result<Batch> {
        ++batches;
        std::this_thread::sleep_for(1ms);
        return Batch::More;
    }));
    QTRY_VERIFY(batches > 3);
    f.onLoop([&] { f.queue.cancelAll(); });
    QTRY_COMPARE(f.log.lines(), QStringList({"long cancelled"}));
    const int atEnd = batches;
    QTest::qWait(20);
    QVERIFY(batches <= atEnd);
}

/// A batch that notices the stop and returns what it has must not look finished.
void TestJobQueue::stoppedJobNeverFinishes()
{
    Gate gate;
    Fixture f;
    f.add(f.job("a", [&](JobControl &) -> Result<Batch> {
        gate.wait();
        return Batch::Done;
    }));
    gate.waitUntilReached();
    f.onLoop([&] {
        f.queue.cancelAll();
        gate.open();
    });
    QTRY_COMPARE(f.log.lines(), QStringList({"a cancelled"}));
}

void TestJobQueue::abandonsAStuckBatch()
{
    const auto gate = std::make_shared<Gate>();
    const auto left = std::make_shared<Gate>();
    std::atomic<int> givenUp = 0;
    Fixture f;
    f.onLoop([&] { f.queue.setAbandoned([&] { ++givenUp; }); });
    f.add(f.job("stuck", [gate, left](JobControl &) -> Result<Batch> {
        gate->wait();
        left->open();
        return Batch::Done;
    }));
    gate->waitUntilReached();
    f.add(f.job("next", done));
    QElapsedTimer timer;
    timer.start();
    f.onLoop([&] { f.queue.cancel(1); });
    QTRY_VERIFY(f.log.contains("next finished"));
    QVERIFY2(timer.elapsed() < 200, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(f.log.lines(), QStringList({"stuck cancelled", "next finished"}));
    QCOMPARE(givenUp.load(), 1);

    // The thread comes back long after: its job has had its one end.
    gate->open();
    left->wait();
    f.add(f.job("later", done));
    QTRY_COMPARE(f.log.lines(),
                 QStringList({"stuck cancelled", "next finished", "later finished"}));
}

void TestJobQueue::abandonedWorkIsHeardNoMore()
{
    const auto gate = std::make_shared<Gate>();
    const auto left = std::make_shared<Gate>();
    Fixture f;
    f.add(f.job("stuck", [gate, left, &f](JobControl &control) -> Result<Batch> {
        gate->wait();
        control.post([&f] { f.log.add("late result"); });
        left->open();
        return Batch::Done;
    }));
    gate->waitUntilReached();
    f.onLoop([&] { f.queue.cancelAll(); });
    QTRY_COMPARE(f.log.lines(), QStringList({"stuck cancelled"}));
    gate->open();
    left->wait();
    f.add(f.job("later", done));
    QTRY_COMPARE(f.log.lines(), QStringList({"stuck cancelled", "later finished"}));
}

void TestJobQueue::patientWithABatchThatReturns()
{
    Gate gate;
    std::atomic<int> givenUp = 0;
    Fixture f;
    f.onLoop([&] { f.queue.setAbandoned([&] { ++givenUp; }); });
    f.add(f.job("quick", [&](JobControl &control) -> Result<Batch> {
        gate.open();
        gate.wait();
        while (!control.stop().stop_requested())
            std::this_thread::sleep_for(1ms);
        return Batch::More;
    }));
    gate.waitUntilReached();
    f.onLoop([&] { f.queue.cancelAll(); });
    QTRY_COMPARE(f.log.lines(), QStringList({"quick cancelled"}));
    QTest::qWait(100);
    QCOMPARE(givenUp.load(), 0);
}

void TestJobQueue::postsComeBeforeTheEnd()
{
    Fixture f;
    f.add(f.job("a", [&](JobControl &control) -> Result<Batch> {
        control.post([&] { f.log.add("result"); });
        return Batch::Done;
    }));
    QTRY_COMPARE(f.log.lines(), QStringList({"result", "a finished"}));
}

void TestJobQueue::reportsProgress()
{
    Gate gate;
    Fixture f;
    f.add(f.job("a", [&](JobControl &control) -> Result<Batch> {
        control.report({"reading", "w", 10, 100, 0, 0});
        control.report({"reading", "v", 20, 100, 0, 0});
        gate.wait();
        return Batch::Done;
    }));
    f.add(f.job("waiting", done));
    gate.waitUntilReached();
    std::atomic<bool> asked = false;
    std::vector<RunningJob> running;
    bool idle = true;
    f.onLoop([&] {
        running = f.queue.running();
        idle = f.queue.idle();
        asked = true;
    });
    QTRY_VERIFY(asked);
    QCOMPARE(running.size(), std::size_t(1));
    QCOMPARE(running[0].title, std::string("a"));
    QCOMPARE(running[0].progress.item, std::string("v"));
    QCOMPARE(running[0].progress.bytesDone, std::uint64_t(20));
    QVERIFY(!idle);
    gate.open();
}

void TestJobQueue::shutdownWaits()
{
    Gate gate;
    Fixture f;
    f.add(f.job("running", [&](JobControl &control) -> Result<Batch> {
        gate.open();
        gate.wait();
        while (!control.stop().stop_requested())
            std::this_thread::sleep_for(1ms);
        return Batch::More;
    }));
    f.add(f.job("queued", done));
    gate.waitUntilReached();
    std::atomic<bool> added = false;
    f.onLoop([&] { added = true; });
    QTRY_VERIFY(added);
    QVERIFY(f.queue.shutdown(2s));
    f.loop.quit();
    QCOMPARE(f.log.lines().size(), 2);
    QVERIFY(f.log.contains("running cancelled"));
    QVERIFY(f.log.contains("queued cancelled"));
}

void TestJobQueue::shutdownLeavesWhatIsStuck()
{
    const auto gate = std::make_shared<Gate>();
    const auto left = std::make_shared<Gate>();
    {
        Fixture f;
        f.add(f.job("stuck", [gate, left](JobControl &control) -> Result<Batch> {
            gate->wait();
            control.post([] { qFatal("the queue is gone"); });
            control.report({});
            left->open();
            return Batch::Done;
        }));
        gate->waitUntilReached();
        QElapsedTimer timer;
        timer.start();
        QVERIFY(!f.queue.shutdown(50ms));
        QVERIFY(timer.elapsed() < 500);
        f.loop.quit();
        QCOMPARE(f.log.lines(), QStringList({"stuck cancelled"}));
    }
    gate->open();
    left->wait();
    QTest::qWait(20);
}

/// Whoever leaves the program must know that a thread was given up long before, and is still there.
void TestJobQueue::shutdownTellsOfAThreadGivenUpBefore()
{
    const auto gate = std::make_shared<Gate>();
    Fixture f;
    f.add(f.job("stuck", [gate](JobControl &) -> Result<Batch> {
        gate->wait();
        return Batch::Done;
    }));
    gate->waitUntilReached();
    f.onLoop([&] { f.queue.cancel(1); });
    QTRY_VERIFY(f.log.contains("stuck cancelled"));
    f.add(f.job("next", done));
    QTRY_VERIFY(f.log.contains("next finished"));
    QVERIFY(!f.queue.shutdown(50ms));
    gate->open();
    QVERIFY(f.queue.shutdown(2s));
}

void TestJobQueue::addAfterShutdownEnds()
{
    Fixture f;
    f.queue.shutdown(1s);
    f.add(f.job("late", done));
    QTRY_COMPARE(f.log.lines(), QStringList({"late cancelled"}));
}

/// Random jobs, cancels and tags: as many ends as starts, and one for each.
void TestJobQueue::everyStartHasOneEnd()
{
    const unsigned seed = 20240229;
    std::srand(seed);
    Fixture f;
    const int jobs = 400;
    for (int i = 0; i < jobs; ++i) {
        const int kind = std::rand() % 4;
        f.add(f.job(
            QString::number(i),
            [kind, n = 0](JobControl &) mutable -> Result<Batch> {
                if (kind == 0)
                    return Error{ErrorCode::Io, "", "", "no"};
                return ++n < kind ? Batch::More : Batch::Done;
            },
            std::rand() % 2 ? Lane::Interactive : Lane::Background,
            std::rand() % 3 ? std::string() : std::string(1, char('a' + std::rand() % 3))));
        if (std::rand() % 8 == 0)
            f.onLoop([&f, i] { f.queue.cancel(JobId(i / 2)); });
    }
    QTRY_COMPARE(f.log.lines().size(), jobs);
    QTest::qWait(80);
    QStringList titles;
    for (const QString &line : f.log.lines())
        titles << line.section(' ', 0, 0);
    QCOMPARE(titles.size(), jobs);
    titles.removeDuplicates();
    QCOMPARE(titles.size(), jobs);
}

QTEST_GUILESS_MAIN(TestJobQueue)
#include "tst_job_queue.moc"
