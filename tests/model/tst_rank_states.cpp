// SPDX-License-Identifier: GPL-3.0-or-later
// State of single ranks, where the ranks of the two sides are not the same.
#include "model/pairing/rank_states.h"

#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <algorithm>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Names = std::vector<std::string>;

/// Weights that never differ, and a number of that value for each name.
SourcePtr run(const Names &values, std::int64_t number = 1)
{
    const auto source = std::make_shared<MemorySource>();
    source->addFloats("w", {1, 2});
    for (const std::string &name : values)
        source->addValue(name, Value::integer(number));
    return source;
}

CheckpointComparison compared(const SourcePtr &a, const SourcePtr &b)
{
    a->finish();
    b->finish();
    CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, {}, backend, serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

} // namespace

class RankStatesTest : public QObject
{
    Q_OBJECT

private slots:
    void verdicts_data();
    void verdicts();
    void tensorsOfRanks();
    void aDTensorOfOneRank();
    void heldAlikeOnOneSide();
    void rowsSayWhy();
};

void RankStatesTest::verdicts_data()
{
    using enum Outcome;
    QTest::addColumn<Names>("a");
    QTest::addColumn<Names>("b");
    QTest::addColumn<int>("numberInB");
    QTest::addColumn<Outcome>("outcome");
    const Names two = {"rng_state_0.python.2", "rng_state_1.python.2"};
    const Names three = {"rng_state_0.python.2", "rng_state_1.python.2", "rng_state_2.python.2"};
    QTest::newRow("the same ranks") << two << two << 1 << Identical;
    QTest::newRow("the same ranks draw otherwise") << two << two << 2 << Different;
    QTest::newRow("one rank more") << two << three << 1 << Undecided;
    QTest::newRow("one rank more, and others draw otherwise") << two << three << 2 << Undecided;
    QTest::newRow("one process against two")
        << Names{"rng_state.python.2"} << two << 1 << Undecided;
    QTest::newRow("lost by all ranks") << two << Names{} << 1 << Different;
    QTest::newRow("lost by one of the same ranks")
        << Names{"rng_state_0.python.2", "rng_state_1.python.2", "rng_state_1.python.3"} << two << 1
        << Different;
    QTest::newRow("torch_dist, one tensor rank against two")
        << Names{"rng_state/shard_0.0_1.1.0.x"}
        << Names{"rng_state/shard_0.0_1.2.0.x", "rng_state/shard_0.1_1.2.0.x"} << 1 << Undecided;
    QTest::newRow("data of ranks")
        << Names{"dataloader.dp_rank_0.seen"}
        << Names{"dataloader.dp_rank_0.seen", "dataloader.dp_rank_1.seen"} << 1 << Undecided;
    // What is of no rank decides as ever.
    QTest::newRow("another value too")
        << two << Names{"rng_state_0.python.2", "iteration"} << 1 << Different;
}

void RankStatesTest::verdicts()
{
    QFETCH(Names, a);
    QFETCH(Names, b);
    QFETCH(int, numberInB);
    QFETCH(Outcome, outcome);
    const CheckpointComparison comparison = compared(run(a), run(b, numberInB));
    QVERIFY2(comparison.verdict.outcome == outcome, comparison.verdict.sentence.c_str());
}

/// A generator's bytes of rank 1, which the other run does not have.
void RankStatesTest::tensorsOfRanks()
{
    const SourcePtr a = run({}), b = run({});
    a->add(MemorySource::pathOf("random_states_0.torch"), "uint8", {2},
           std::vector<std::uint8_t>{1, 2});
    b->add(MemorySource::pathOf("random_states_0.torch"), "uint8", {2},
           std::vector<std::uint8_t>{1, 3});
    b->add(MemorySource::pathOf("random_states_1.torch"), "uint8", {2},
           std::vector<std::uint8_t>{1, 2});
    const CheckpointComparison comparison = compared(a, b);
    QVERIFY2(comparison.verdict.outcome == Outcome::Undecided, comparison.verdict.sentence.c_str());
    QCOMPARE(comparison.counts.notCompared, std::uint64_t(2));
    QCOMPARE(comparison.counts.identical, std::uint64_t(1));
}

/// Both were written by ranks 0 and 1; in A these hold x alike, in B each has its own.
void RankStatesTest::heldAlikeOnOneSide()
{
    const SourcePtr a = run({}), b = run({});
    a->addFloats("x", {1, 2});
    for (const SourcePtr &side : {a, b})
        side->editCatalog().owners = {{{{"rank", 0}}}, {{{"rank", 1}}}};
    b->addFloats("rank_0.x", {1, 2}).owner = 0;
    b->addFloats("rank_1.x", {1, 3}).owner = 1;
    const CheckpointComparison comparison = compared(a, b);
    QVERIFY2(comparison.verdict.outcome == Outcome::Different, comparison.verdict.sentence.c_str());
    QCOMPARE(comparison.counts.notCompared, std::uint64_t(0));
}

/// What torch.save writes of a DTensor on rank 0 of 2, against the whole.
void RankStatesTest::aDTensorOfOneRank()
{
    const SourcePtr whole = run({}), part = run({});
    whole->addFloats("model.x", {1, 2});
    part->editCatalog().owners.push_back({{{"rank", 0}}});
    part->addFloats("model.x._local_tensor", {1}).owner = 0;
    part->addFloats("model.x._spec.mesh._rank_map", {0, 1});
    part->addValue("model.x", Value::integer(0));
    part->addValue("model.x._spec", Value::integer(0));
    const CheckpointComparison comparison = compared(whole, part);
    QVERIFY2(comparison.verdict.outcome == Outcome::Undecided, comparison.verdict.sentence.c_str());
    QCOMPARE(comparison.counts.identical, std::uint64_t(1));
    QCOMPARE(comparison.counts.notCompared, std::uint64_t(3));
    QVERIFY(std::all_of(comparison.values.begin(), comparison.values.end(), [](const auto &row) {
        return row.status == ItemStatus::NotCompared && row.notComparable;
    }));
}

void RankStatesTest::rowsSayWhy()
{
    const CheckpointComparison comparison = compared(
        run({"rng_state_0.python.2"}), run({"rng_state_0.python.2", "rng_state_1.python.2"}));
    QCOMPARE(comparison.values.size(), std::size_t(2));
    // Equal is equal, whoever else there was.
    QVERIFY(comparison.values[0].status == ItemStatus::Identical);
    QVERIFY(comparison.values[1].status == ItemStatus::NotCompared);
    QVERIFY(comparison.values[1].notComparable);
    QCOMPARE(comparison.values[1].reason,
             std::string("the state of one rank, and the two sides were written by unlike ranks"));
}

QTEST_APPLESS_MAIN(RankStatesTest)
#include "tst_rank_states.moc"
