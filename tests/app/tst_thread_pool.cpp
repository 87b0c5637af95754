// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/thread_pool.h"
#include "loaders/storage/read_watch.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace forkpoint;

class TestThreadPool : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void countsItsCaller();
    void everyIndexOnce_data();
    void everyIndexOnce();
    void nothingToDo();
    void reallyParallel();
    void nested();
    void severalCallers();
    void failures();
    void whoIsStuckInAReadIsGivenUp_data();
    void whoIsStuckInAReadIsGivenUp();
    void whoIsStuckWithinAnotherPieceIsGivenUp_data() { whoIsStuckInAReadIsGivenUp_data(); }
    void whoIsStuckWithinAnotherPieceIsGivenUp();
    void piecesThatAreBegunOnceAreNotGivenUp();
    void severalStuckWithinOnePieceAreGivenUp();
};

void TestThreadPool::countsItsCaller()
{
    QCOMPARE(ThreadPool(1).threadCount(), std::size_t(1));
    QCOMPARE(ThreadPool(3).threadCount(), std::size_t(3));
    QCOMPARE(ThreadPool(0).threadCount(),
             std::size_t(std::max(1u, std::thread::hardware_concurrency())));
}

void TestThreadPool::everyIndexOnce_data()
{
    QTest::addColumn<int>("threads");
    QTest::addColumn<int>("count");
    for (const int threads : {1, 2, 5})
        for (const int count : {1, 2, 4, 1000})
            QTest::addRow("%d threads, %d pieces", threads, count) << threads << count;
}

void TestThreadPool::everyIndexOnce()
{
    QFETCH(int, threads);
    QFETCH(int, count);
    ThreadPool pool{std::size_t(threads)};
    for (int round = 0; round < 50; ++round) {
        std::vector<std::atomic<int>> calls(std::size_t(count) + 1);
        pool.forEach(std::size_t(count), [&](std::size_t i) { ++calls[i]; });
        for (std::size_t i = 0; i < std::size_t(count); ++i)
            QCOMPARE(calls[i].load(), 1);
        QCOMPARE(calls.back().load(), 0);
    }
}

void TestThreadPool::nothingToDo()
{
    ThreadPool pool(2);
    bool called = false;
    pool.forEach(0, [&](std::size_t) { called = true; });
    QVERIFY(!called);
}

/// Three pieces that wait for each other end only if three threads work on them at once.
void TestThreadPool::reallyParallel()
{
    ThreadPool pool(3);
    std::barrier meet(3);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    pool.forEach(3, [&](std::size_t) {
        meet.arrive_and_wait();
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
    });
    QCOMPARE(threads.size(), std::size_t(3));
    QVERIFY(!threads.contains(std::this_thread::get_id())); // who waits can give up who is stuck
}

void TestThreadPool::nested()
{
    ThreadPool pool(3);
    std::atomic<int> calls = 0;
    pool.forEach(8, [&](std::size_t) { pool.forEach(8, [&](std::size_t) { ++calls; }); });
    QCOMPARE(calls.load(), 64);
}

/// A caller whose pieces are stuck does not hold up another one.
void TestThreadPool::severalCallers()
{
    ThreadPool pool(2);
    std::atomic<bool> release = false;
    std::thread stuck([&] { pool.forEach(2, [&](std::size_t) { release.wait(false); }); });
    std::atomic<int> calls = 0;
    pool.forEach(100, [&](std::size_t) { ++calls; });
    QCOMPARE(calls.load(), 100);
    release = true;
    release.notify_all();
    stuck.join();
}

void TestThreadPool::failures()
{
    ThreadPool pool(3);
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> calls = 0;
        bool caught = false;
        try {
            pool.forEach(30, [&](std::size_t i) {
                ++calls;
                if (i % 10 == 3)
                    throw std::bad_alloc();
            });
        } catch (const std::bad_alloc &) {
            caught = true;
        }
        QVERIFY(caught);
        QCOMPARE(calls.load(), 30); // nobody is still at work when the caller goes on
    }
}

void TestThreadPool::whoIsStuckInAReadIsGivenUp_data()
{
    QTest::addColumn<int>("threads");
    for (const int threads : {1, 2, 3})
        QTest::addRow("%d", threads) << threads;
}

/// Reads of two files never come back. Each piece ends once all the same, those at work on them having
/// found a file that is known not to answer.
void TestThreadPool::whoIsStuckInAReadIsGivenUp()
{
    QFETCH(int, threads);
    const std::array<Stalled, 2> stalled = {std::make_shared<std::atomic<int>>(0),
                                            std::make_shared<std::atomic<int>>(0)};
    setStallAfter(std::chrono::milliseconds(150));
    ThreadPool pool{std::size_t(threads)};
    for (int round = 0; round < 2; ++round) {
        std::array<std::atomic<int>, 12> ended{};
        std::atomic<int> refused = 0;
        pool.forEach(ended.size(), [&](std::size_t i) {
            const Stalled file = stalled[i % 2];
            if (i % 5 == 0) {
                if (*file) {
                    ++refused;
                } else {
                    const WaitingForRead waiting(file);
                    std::this_thread::sleep_for(std::chrono::hours(1));
                }
            }
            ++ended[i];
        });
        for (const auto &times : ended)
            QCOMPARE(times.load(), 1);
        QCOMPARE(refused.load(), 3);
        QVERIFY(*stalled[0] && *stalled[1]);
    }
}

/// The thread that is stuck is itself a caller of forEach(): its piece is begun anew as a whole.
void TestThreadPool::whoIsStuckWithinAnotherPieceIsGivenUp()
{
    QFETCH(int, threads);
    setStallAfter(std::chrono::milliseconds(150));
    const auto file = std::make_shared<std::atomic<int>>(0);
    ThreadPool pool{std::size_t(threads)};
    std::array<std::atomic<int>, 3> ended{};
    // Of the pieces that are begun anew, too: who is stuck has them on a stack that stays.
    std::array<std::atomic<int>, 4> refused{};
    pool.forEach(ended.size(), [&](std::size_t outer) {
        pool.forEach(refused.size(), [&](std::size_t inner) {
            if (inner % 2 == 0)
                return;
            if (*file > 0) {
                ++refused[inner];
                return;
            }
            const WaitingForRead waiting(file);
            std::this_thread::sleep_for(std::chrono::hours(1));
        });
        ++ended[outer];
    });
    for (const auto &times : ended)
        QCOMPARE(times.load(), 1);
    QVERIFY(refused[1] >= 3 && refused[3] >= 3);
    QVERIFY(*file > 0);
}

/// What they wait for is somebody else's to give up (loaders/storage/call_aside.h).
void TestThreadPool::piecesThatAreBegunOnceAreNotGivenUp()
{
    ThreadPool pool(2);
    std::array<std::atomic<int>, 20> ended{};
    std::atomic<int> needed = 0;
    pool.forEachOnce(ended.size(), [&](std::size_t i) {
        needed += !ReadWait::ofThisThread()->mayBeGivenUp();
        ++ended[i];
    });
    for (const auto &times : ended)
        QCOMPARE(times.load(), 1);
    QCOMPARE(needed.load(), 20);
    needed = 0;
    pool.forEach(20, [&](std::size_t) { needed += !ReadWait::ofThisThread()->mayBeGivenUp(); });
    QCOMPARE(needed.load(), 0);
}

/// Three of four threads are stuck in the pieces of one inner round: the pool goes all the same.
void TestThreadPool::severalStuckWithinOnePieceAreGivenUp()
{
    setStallAfter(std::chrono::milliseconds(150));
    const auto file = std::make_shared<std::atomic<int>>(0);
    // Of those who are stuck, too, whose stacks stay: not to go before them.
    const auto meet = std::make_shared<std::barrier<>>(3);
    std::atomic<int> ended = 0;
    {
        ThreadPool pool(4);
        pool.forEach(1, [&](std::size_t) {
            if (*file > 0) {
                ++ended;
                return;
            }
            pool.forEach(3, [file, meet](std::size_t) {
                meet->arrive_and_wait();
                const WaitingForRead waiting(file);
                std::this_thread::sleep_for(std::chrono::hours(1));
            });
        });
        QCOMPARE(ended.load(), 1);
    }
    QCOMPARE(file->load(), 3);
}

QTEST_APPLESS_MAIN(TestThreadPool)
#include "tst_thread_pool.moc"
