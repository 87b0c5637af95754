// SPDX-License-Identifier: GPL-3.0-or-later
// What the causal chain says of each class of state: a difference outweighs what is open, that what
// is equal, and what was not recorded says nothing.
#include "model/compare/class_evidence.h"
#include "model/compare/run_comparison.h"

#include <QTest>

using namespace forkpoint;

namespace {

ChainLink link(std::int64_t step, std::string stage, LinkStatus status, std::uint64_t compared,
               std::uint64_t different, Strength strength)
{
    return {step, std::move(stage), status, compared, different, strength};
}

} // namespace

class ClassEvidenceTest : public QObject
{
    Q_OBJECT

private slots:
    void theStepOfTheDivergenceCounts()
    {
        RunComparison comparison;
        comparison.chain = {
            link(1, "rng", LinkStatus::Equal, 3, 0, Strength::Bytes),
            link(2, "rng", LinkStatus::Different, 3, 1, Strength::Bytes),
            link(2, "loss", LinkStatus::Different, 1, 1, Strength::Bytes),
            link(2, "weight", LinkStatus::NotRecorded, 0, 0, Strength::None),
        };
        comparison.firstDivergence.emplace();
        comparison.firstDivergence->step = 2;
        const auto classes = classEvidence(comparison);
        QCOMPARE(classes.size(), std::size_t(1)); // the loss is no state, the weights are a hole
        const ChainLink &rng = classes.at(StateClass::Rng);
        QVERIFY(rng.status == LinkStatus::Different);
        QCOMPARE(rng.compared, std::uint64_t(3));
        QCOMPARE(rng.different, std::uint64_t(1));
    }

    void whatAnOptimizerKeepsAfterAStepIsItsState()
    {
        RunComparison comparison;
        comparison.chain = {
            link(4, "optimizer", LinkStatus::Equal, 8, 0, Strength::Bytes),
            link(4, "update", LinkStatus::Different, 12, 8, Strength::Bytes),
        };
        const ChainLink optimizer = classEvidence(comparison).at(StateClass::Optimizer);
        QVERIFY(optimizer.status == LinkStatus::Different);
        QCOMPARE(optimizer.compared, std::uint64_t(20));
        QCOMPARE(optimizer.different, std::uint64_t(8));
    }

    void withoutADivergenceAllStepsCount()
    {
        RunComparison comparison;
        comparison.chain = {
            link(1, "weight", LinkStatus::Equal, 4, 0, Strength::Bytes),
            link(2, "weight", LinkStatus::Equal, 5, 0, Strength::Xxh3),
            link(1, "batch", LinkStatus::Equal, 1, 0, Strength::Bytes),
            link(2, "batch", LinkStatus::Undecided, 1, 0, Strength::Norm),
        };
        const auto classes = classEvidence(comparison);
        const ChainLink &weights = classes.at(StateClass::Weights);
        QVERIFY(weights.status == LinkStatus::Equal);
        QCOMPARE(weights.compared, std::uint64_t(9));
        QVERIFY(weights.strength == Strength::Xxh3); // equality is as strong as its weakest
        QVERIFY(classes.at(StateClass::Data).status == LinkStatus::Undecided);
        QVERIFY(classes.at(StateClass::Data).strength == Strength::Norm);
    }

    void anEqualLearningRateThatWasLoggedIsNoScheduler()
    {
        RunComparison comparison;
        comparison.chain = {link(1, "scheduler", LinkStatus::Equal, 1, 0, Strength::Bytes)};
        comparison.metrics.resize(1);
        comparison.metrics[0].name = "lr";
        comparison.metrics[0].differences = {{1, 1, 1, 0, 0.0, 0.0}};
        QVERIFY(classEvidence(comparison).empty());
        comparison.chain[0].compared = 2; // and a record of it
        QVERIFY(classEvidence(comparison).contains(StateClass::Scheduler));
        comparison.chain[0] = link(1, "scheduler", LinkStatus::Different, 1, 1, Strength::Bytes);
        QVERIFY(classEvidence(comparison).contains(StateClass::Scheduler));
    }

    void windowAndReportSayTheSameOfAClass()
    {
        RunComparison comparison;
        comparison.verdict.coverage.recordsTotal = 40;
        comparison.chain = {link(1, "weight", LinkStatus::Different, 29, 14, Strength::Bytes),
                            link(1, "rng", LinkStatus::Equal, 3, 0, Strength::Bytes)};
        CheckpointComparison shown;
        shown.byClass[StateClass::Weights] = {Outcome::Different, {}};
        shown.byClass[StateClass::Rng] = {Outcome::Different, {}};
        shown.byClass[StateClass::Optimizer] = {Outcome::Identical, {}};
        const auto lines = classLines(comparison, shown);
        QCOMPARE(lines.size(), std::size_t(3));
        for (const ClassLine &line : lines) {
            // What traces kept is a part of their records; a checkpoint that differs says more.
            QCOMPARE(line.isByItems, line.stateClass != StateClass::Weights);
            QCOMPARE(line.recorded.has_value(), line.stateClass != StateClass::Optimizer);
        }
        comparison.verdict.coverage.recordsTotal = 0;
        for (const ClassLine &line : classLines(comparison, shown))
            QVERIFY(!line.recorded);
    }
};

QTEST_APPLESS_MAIN(ClassEvidenceTest)
#include "tst_class_evidence.moc"
