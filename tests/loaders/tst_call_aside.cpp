// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/call_aside.h"

#include <QTest>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace forkpoint;

class TestCallAside : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { setStallAfter(std::chrono::minutes(2)); }
    void returnsWhatTheCallReturns();
    void throwsWhatTheCallThrows();
    void whatDoesNotComeBackIsLeftAlone();
    void whoIsNeededIsNotGivenUp();
};

void TestCallAside::returnsWhatTheCallReturns()
{
    const auto stalled = std::make_shared<std::atomic<int>>(0);
    const auto here = std::this_thread::get_id();
    for (int i = 0; i < 100; ++i) {
        const auto result = callAside<std::pair<int, std::thread::id>>(
            [i] { return std::pair(i, std::this_thread::get_id()); }, stalled);
        QVERIFY(result.has_value());
        QCOMPARE(result->first, i);
        QVERIFY(result->second != here);
    }
    QCOMPARE(stalled->load(), 0);
}

void TestCallAside::throwsWhatTheCallThrows()
{
    const auto stalled = std::make_shared<std::atomic<int>>(0);
    const auto fail = []() -> int { throw std::length_error("no room"); };
    for (int i = 0; i < 3; ++i)
        QVERIFY_THROWS_EXCEPTION(std::length_error, callAside<int>(fail, stalled));
    QCOMPARE(callAside<int>([] { return 7; }, stalled), std::optional(7));
}

/// Two calls hang. The file is said not to answer until both have come back.
void TestCallAside::whatDoesNotComeBackIsLeftAlone()
{
    setStallAfter(std::chrono::milliseconds(50));
    const auto stalled = std::make_shared<std::atomic<int>>(0);
    const auto release = std::make_shared<std::atomic<bool>>(false);
    const auto hang = [release] {
        release->wait(false);
        return 1;
    };
    QVERIFY(!callAside<int>(hang, stalled));
    QCOMPARE(stalled->load(), 1);
    QVERIFY(!callAside<int>(hang, stalled));
    QCOMPARE(stalled->load(), 2);
    setStallAfter(std::chrono::minutes(2));
    QCOMPARE(patience(), std::chrono::milliseconds(7500)); // with what may lie on the same storage
    setStallAfter(std::chrono::seconds(10));
    QCOMPARE(patience(), std::chrono::milliseconds(2000));
    setStallAfter(std::chrono::milliseconds(50));
    QCOMPARE(patience(), std::chrono::milliseconds(50));
    QCOMPARE(callAside<int>([] { return 5; }, stalled), std::optional(5));
    *release = true;
    release->notify_all();
    QTRY_COMPARE(stalled->load(), 0);
    setStallAfter(std::chrono::minutes(2));
    QCOMPARE(patience(), std::chrono::milliseconds(120'000));
}

void TestCallAside::whoIsNeededIsNotGivenUp()
{
    std::thread([] {
        const auto &wait = ReadWait::ofThisThread();
        QVERIFY(!wait->mayBeGivenUp()); // nobody watches it
        wait->setExpendable();
        QVERIFY(wait->mayBeGivenUp());
        {
            const NeededHere outer;
            {
                const NeededHere inner;
                QVERIFY(!wait->mayBeGivenUp());
            }
            QVERIFY(!wait->mayBeGivenUp());
        }
        QVERIFY(wait->mayBeGivenUp());
    }).join();
}

QTEST_APPLESS_MAIN(TestCallAside)
#include "tst_call_aside.moc"
