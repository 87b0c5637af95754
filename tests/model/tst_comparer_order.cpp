// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison as work: in every order the same, every byte read once, and on after a stop.
#include "model/report/report_json.h"
#include "tests/support/checkpoints_in_memory.h"
#include "tests/support/stats_bits.h"

#include <QTest>

#include <atomic>
#include <random>
#include <thread>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// Work in the worst order.
class BackwardExecutor final : public Executor
{
public:
    std::size_t threadCount() const override { return 1; }
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override
    {
        while (count > 0)
            work(--count);
    }
};

class ThreadsExecutor final : public Executor
{
public:
    std::size_t threadCount() const override { return 3; }
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override
    {
        std::atomic<std::size_t> next = 0;
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&] {
                for (std::size_t item = next++; item < count; item = next++)
                    work(item);
            });
    }
};

std::string reportOf(CheckpointComparison comparison)
{
    RunComparison run;
    run.verdict = comparison.verdict;
    run.findings = comparison.findings;
    run.diagnostics = comparison.diagnostics;
    run.shown = std::move(comparison);
    ReportOptions options;
    options.histograms = true;
    return reportJson(run, options);
}

} // namespace

class TestComparerOrder : public QObject
{
    Q_OBJECT

private slots:
    void verdictOnlyAgrees();
    void everyOrderGivesTheSameBytes();
    void readsOnce_data();
    void readsOnce();
    void goesOnAfterAStop();
    void mirrored();
};

namespace {

/// Checkpoints of few names, so that most things that can happen do.
std::pair<SourcePtr, SourcePtr> randomPair(std::mt19937 &random)
{
    const auto a = source(), b = source();
    for (const char *name : {"model.w", "model.v", "optimizer.m", "rng", "args.table", "x"}) {
        const unsigned fate = unsigned(random() % 36);
        std::vector<float> left(random() % 40), right;
        for (float &value : left)
            value = float(random() % 5);
        right = left;
        if (fate < 2 && !right.empty())
            right[random() % right.size()] += 1.0f;
        if (fate == 2)
            right.push_back(1);
        if (fate != 3)
            a->addFloats(name, left);
        if (fate != 4)
            b->addFloats(name, right);
        if (fate == 5)
            b->breakTensor(MemorySource::pathOf(name));
        if (fate == 6)
            a->addValue(std::string("lr.") + name, Value::real(0.5));
        if (fate >= 6 && fate < 9)
            b->addValue(std::string("lr.") + name, Value::real(0.5));
        if (fate == 8)
            a->addValue(std::string("lr.") + name, Value::real(0.25));
    }
    a->finish();
    b->finish();
    a->editCatalog().complete = random() % 4 != 0;
    return {a, b};
}

} // namespace

void TestComparerOrder::verdictOnlyAgrees()
{
    constexpr unsigned Seed = 8;
    std::mt19937 random(Seed);
    std::set<Outcome> seen;
    for (int round = 0; round < 400; ++round) {
        const auto [a, b] = randomPair(random);
        CompareOptions quick, plain;
        quick.verdictOnly = true;
        quick.pairing.strict = plain.pairing.strict = round % 2 == 0;
        const Outcome expected = compare(a, b, plain).verdict.outcome;
        QVERIFY2(compare(a, b, quick).verdict.outcome == expected,
                 qPrintable(QString::number(round)));
        CompareOptions bare = plain;
        bare.measure = false;
        bare.fingerprints = !plain.pairing.strict; // without them nothing is joined by content
        QVERIFY2(compare(a, b, bare).verdict.outcome == expected, "without digests");
        seen.insert(expected);
    }
    QVERIFY(seen.size() >= 3);
}

void TestComparerOrder::everyOrderGivesTheSameBytes()
{
    // Over a batch (64 MiB) and over the pieces of one thread (8 MiB), with a difference in each.
    constexpr std::size_t Large = 36u << 20;
    const auto a = source(), b = source();
    std::vector<std::uint8_t> bytes(Large);
    for (std::size_t i = 0; i < Large; i += 4096)
        bytes[i] = std::uint8_t(i >> 12);
    a->add(MemorySource::pathOf("large"), "uint8", {Large}, bytes);
    bytes[Large - 1] ^= 1;
    bytes[17u << 20] ^= 128;
    b->add(MemorySource::pathOf("large"), "uint8", {Large}, bytes);
    std::vector<float> sums(300'000);
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = std::sin(float(i));
    a->addFloats("sums", sums);
    for (float &x : sums)
        x *= 1.0001f;
    b->addFloats("sums", sums);
    a->finish();
    b->finish();
    CompareOptions options;
    options.full = true;
    const CheckpointComparison serial = compare(a, b, options);
    const TensorRow &row = rowOf(serial, "large");
    QCOMPARE(row.stats->differentElements, Index(2));
    QCOMPARE(row.stats->firstIndex, Index(17u << 20));
    QCOMPARE(row.stats->lastIndex, Index(Large - 1));
    QCOMPARE(row.stats->maxAbsInteger, std::uint64_t(128));
    const std::string expected = reportOf(serial);
    BackwardExecutor backward;
    QVERIFY(reportOf(compare(a, b, options, &backward)) == expected);
    ThreadsExecutor threads;
    QVERIFY(reportOf(compare(a, b, options, &threads)) == expected);
}

/// A comparison that was stopped says so, and ends like any other when its owner goes on.
void TestComparerOrder::readsOnce_data()
{
    QTest::addColumn<int>("firstDifference"); // element
    QTest::addColumn<int>("every");
    QTest::newRow("everything differs") << 0 << 1;
    QTest::newRow("from the first unit on") << 5 << 1000;
    QTest::newRow("inside a unit") << (3 << 20) + 700'000 << 77;
    QTest::newRow("in the second batch") << (9 << 20) + 5 << 1;
    QTest::newRow("the last element alone") << (10 << 20) + 12344 << (20 << 20);
    QTest::newRow("nothing") << (20 << 20) << 1;
}

/// What differs is measured while it is read, and what was equal before is read again from A only;
/// the statistics are those of one call over both tensors.
void TestComparerOrder::readsOnce()
{
    QFETCH(int, firstDifference);
    QFETCH(int, every);
    constexpr std::size_t Elements = (10 << 20) + 12345; // 80 MiB of both: more than a batch
    std::vector<float> first(Elements), second;
    for (std::size_t i = 0; i < Elements; ++i)
        first[i] = 1.0f + float(i % 8191) * 0.001f;
    second = first;
    for (std::size_t i = std::size_t(firstDifference); i < Elements; i += std::size_t(every))
        second[i] *= 1.5f;
    const auto a = floats(first), b = floats(second);
    ThreadsExecutor threads;
    const CheckpointComparison comparison = compare(a, b, {}, &threads);
    const TensorRow &row = rowOf(comparison, "w");
    const std::uint64_t bytes = Elements * sizeof(float);
    const bool isAlone = row.stats && row.stats->differentElements == 1;
    const std::uint64_t again = isAlone ? sizeof(float) : 0; // for the bits that differ in it
    QCOMPARE(b->bytesRead.load(), bytes + again);
    const std::size_t equal = std::min(std::size_t(firstDifference), Elements);
    QVERIFY(a->bytesRead.load() - again <= bytes + (equal < Elements ? equal * sizeof(float) : 0));
    QCOMPARE(row.status == ItemStatus::Identical, equal == Elements);
    QCOMPARE(row.stats == nullptr, equal == Elements);
    if (!row.stats)
        return;
    DiffStats whole;
    CpuBackend().diff(*dtypeByName("float32"), std::as_bytes(std::span(first)),
                      std::as_bytes(std::span(second)), 0, Elements, {}, whole);
    QCOMPARE(statsBits(*row.stats), statsBits(whole));
    SerialExecutor serial;
    QCOMPARE(statsBits(*rowOf(compare(a, b, {}, &serial), "w").stats), statsBits(whole));
}

void TestComparerOrder::goesOnAfterAStop()
{
    constexpr unsigned Seed = 12;
    std::mt19937 random(Seed);
    for (int round = 0; round < 60; ++round) {
        const auto [a, b] = randomPair(random);
        const std::string expected = reportOf(compare(a, b));
        unsigned until = unsigned(random() % 20);
        std::stop_source stop;
        a->onRead([&] {
            if (until-- == 0)
                stop.request_stop();
        });
        const CpuBackend backend;
        SerialExecutor serial;
        CheckpointComparer comparer(a, b, {}, backend, serial);
        while (!stop.stop_requested() && comparer.advance(stop.get_token())) {}
        if (stop.stop_requested()) {
            const CheckpointComparison halted = comparer.snapshot();
            QVERIFY(!halted.finished);
            QVERIFY(halted.verdict.outcome == Outcome::Undecided
                    || halted.verdict.outcome == Outcome::Different);
        }
        a->onRead({});
        while (comparer.advance({})) {}
        QVERIFY2(reportOf(comparer.snapshot()) == expected, qPrintable(QString::number(round)));
        QCOMPARE(comparer.progress().bytesDone, comparer.progress().bytesTotal);
    }
}

void TestComparerOrder::mirrored()
{
    constexpr unsigned Seed = 9;
    std::mt19937 random(Seed);
    for (int round = 0; round < 400; ++round) {
        const auto [a, b] = randomPair(random);
        const CheckpointComparison forth = compare(a, b), back = compare(b, a);
        const QByteArray where = "seed 9, round " + QByteArray::number(round);
        QVERIFY2(forth.verdict.outcome == back.verdict.outcome, where);
        QVERIFY2(forth.verdict.sentence == back.verdict.sentence, where);
        QCOMPARE(forth.counts.identical, back.counts.identical);
        QCOMPARE(forth.counts.different, back.counts.different);
        QCOMPARE(forth.counts.notCompared, back.counts.notCompared);
        QCOMPARE(forth.counts.onlyInA, back.counts.onlyInB);
        QCOMPARE(forth.counts.onlyInB, back.counts.onlyInA);
        QCOMPARE(forth.byClass.size(), back.byClass.size());
        for (const auto &[stateClass, summary] : forth.byClass)
            QVERIFY2(back.byClass.at(stateClass).outcome == summary.outcome, where);
    }
}

QTEST_APPLESS_MAIN(TestComparerOrder)
#include "tst_comparer_order.moc"
