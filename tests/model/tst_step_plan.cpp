// SPDX-License-Identifier: GPL-3.0-or-later
// Which step of one run meets which of the other.
#include "tests/support/runs_in_memory.h"

#include <QTest>

#include <random>
#include <set>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// "4=", "8<" (only in A), "8>", "12!" (a hole), as planned.
QString planned(const Run &a, const Run &b, const StepSelection &selection = {})
{
    const StepPlan plan = planSteps(a, b, selection);
    if (!plan.refusal.empty())
        return QStringLiteral("refused");
    QStringList parts;
    for (const PlannedStep &step : plan.steps) {
        const QString number = step.step ? QString::number(*step.step) : QStringLiteral("?");
        const QString sides = step.a && step.b ? "=" : step.a ? "<" : ">";
        parts << number + sides + (step.hole ? "!" : "");
    }
    return parts.join(' ');
}

QString planned(const Steps &a, const Steps &b, const StepSelection &selection = {})
{
    return planned(*series("a", a), *series("b", b), selection);
}

} // namespace

class TestStepPlan : public QObject
{
    Q_OBJECT

private slots:
    void alignment();
    void alignmentOfRandomSeries();
    void singleCheckpoints();
    void chosenSteps();
    void resumedSeries();
    void hole();
    void chosenStepsAreSaid();
};

void TestStepPlan::alignment()
{
    QCOMPARE(planned({4, 8, 12}, {4, 8, 12}), QStringLiteral("4= 8= 12="));
    QCOMPARE(planned({4, 8, 12}, {8, 12}), QStringLiteral("4< 8= 12="));
    QCOMPARE(planned({4, 8}, {8, 12}), QStringLiteral("4< 8= 12>"));
    QCOMPARE(planned({4, 8, 12}, {4, 12}), QStringLiteral("4= 8<! 12="));
    QCOMPARE(planned({4, 6, 12}, {4, 8, 12}), QStringLiteral("4= 6<! 8>! 12="));
    QCOMPARE(planned({4, 8}, {5, 9}), QStringLiteral("refused"));
    QCOMPARE(planned({4, 8, 12}, {4, 8, 12}, range(8, 100)), QStringLiteral("8= 12="));
    QCOMPARE(planned({4, 8, 12}, {4, 8, 12}, range(5, 7)), QStringLiteral("refused"));
    QCOMPARE(planned({4, 8, 12}, {4, 8, 12}, range(12, 4)), QStringLiteral("refused"));
    QCOMPARE(planned({}, {4}), QStringLiteral("refused"));
    QVERIFY(
        has(planSteps(*series("a", {4, 8}), *series("b", {5}), {}).refusal, "no step in common"));
}

void TestStepPlan::alignmentOfRandomSeries()
{
    constexpr unsigned Seed = 17;
    std::mt19937 random(Seed);
    int holes = 0;
    for (int round = 0; round < 3000; ++round) {
        std::set<Step> a, b;
        for (std::set<Step> *steps : {&a, &b}) {
            while (steps->size() < 1 + random() % 6)
                steps->insert(Step(random() % 10));
        }
        std::optional<std::pair<Step, Step>> window;
        if (random() % 3 == 0)
            window = {Step(random() % 10), Step(random() % 10)};
        QStringList expected;
        bool common = false;
        for (Step step = 0; step < 10; ++step) {
            const bool inA = a.contains(step), inB = b.contains(step);
            if ((!inA && !inB) || (window && (step < window->first || step > window->second)))
                continue;
            // Inside the overlap: both series have something at or before, and at or after it.
            const bool inside = step >= *a.begin() && step >= *b.begin() && step <= *a.rbegin()
                && step <= *b.rbegin();
            const bool hole = inside && inA != inB;
            holes += hole;
            common |= inA && inB;
            expected << QString::number(step)
                    + (inA && inB ? "="
                           : inA  ? "<"
                                  : ">")
                    + (hole ? "!" : "");
        }
        StepSelection selection;
        selection.range = window;
        QCOMPARE(planned(Steps(a.begin(), a.end()), Steps(b.begin(), b.end()), selection),
                 common ? expected.join(' ') : QStringLiteral("refused"));
    }
    QVERIFY(holes > 500);
}

void TestStepPlan::singleCheckpoints()
{
    const auto file = single(checkpoint(1)), numbered = single(checkpoint(1), 8);
    const auto run = series("a", {4, 8, 12});
    QCOMPARE(planned(*file, *file), QStringLiteral("?="));
    QCOMPARE(planned(*file, *run), QStringLiteral("12=")); // the newest
    QCOMPARE(planned(*run, *file), QStringLiteral("12="));
    QCOMPARE(planned(*numbered, *run), QStringLiteral("4> 8= 12>"));
    QCOMPARE(planned(*single(checkpoint(1), 5), *run), QStringLiteral("refused"));
    // A file that says which step it is meets that one, and no other.
    const auto named = [](Step step) {
        auto lone = std::make_shared<MemoryRun>("lone");
        lone->addStep({}, checkpoint(1)).named(step);
        return lone;
    };
    QCOMPARE(planned(*named(4), *run), QStringLiteral("4="));
    QCOMPARE(planned(*run, *named(8)), QStringLiteral("8="));
    QVERIFY(has(planSteps(*named(5), *run, {}).refusal, "B has no step 5; it has 4 8 12"));
    QCOMPARE(planned(*named(4), *named(8)), QStringLiteral("?="));
    QVERIFY(has(planSteps(*file, *run, range(4, 8)).refusal, "needs two series"));
    run->addStep(16, checkpoint(16), false); // an interrupted save
    QCOMPARE(planned(*file, *run), QStringLiteral("12="));
    // Several checkpoints and no numbers: nothing to align them by, and no crash.
    const auto nameless = std::make_shared<MemoryRun>("nameless");
    nameless->addStep({}, checkpoint(1)).addStep({}, checkpoint(2));
    QCOMPARE(planned(*nameless, *nameless), QStringLiteral("refused"));
    QCOMPARE(planned(*nameless, *run), QStringLiteral("refused"));
    QVERIFY(compare(nameless, run).verdict.outcome == Outcome::NotCompared);
}

void TestStepPlan::chosenSteps()
{
    const auto a = series("a", {4, 8, 12}), b = series("b", {4, 8});
    QCOMPARE(planned(*a, *b, only(8, 4)), QStringLiteral("8="));
    const StepPlan plan = planSteps(*a, *b, only(8, 4));
    QVERIFY(plan.steps[0].a == 1 && plan.steps[0].b == 0);
    QCOMPARE(planned(*a, *b, only(8, 8)), QStringLiteral("8="));
    QVERIFY(has(planSteps(*a, *b, only(12, 12)).refusal, "B has no step 12; it has 4 8"));
    QVERIFY(has(planSteps(*a, *b, only(5, 4)).refusal, "A has no step 5"));
    // A lone file is what was meant; the number is the series'.
    QCOMPARE(planned(*single(checkpoint(1)), *b, only(4, 4)), QStringLiteral("4="));
    QVERIFY(has(planSteps(*single(checkpoint(1)), *b, only(5, 5)).refusal, "B has no step 5"));
    QVERIFY(has(planSteps(*single(checkpoint(1)), *single(checkpoint(1)), only(4, 4)).refusal,
                "neither side is a series"));

    // A's 8 is not B's 4, and is B's 8.
    QVERIFY(compare(a, b, only(8, 4)).verdict.outcome == Outcome::Different);
    const RunComparison same = compare(a, b, only(8, 8));
    QVERIFY(same.verdict.outcome == Outcome::Identical);
    QVERIFY(same.shownStep == 8);
    const RunComparison refused = compare(a, b, only(12, 12));
    QVERIFY(refused.verdict.outcome == Outcome::NotCompared && !refused.verdict.reason.empty());
    QVERIFY(refused.finished && refused.steps.empty());
}

void TestStepPlan::resumedSeries()
{
    const auto a = series("a", {4, 8, 12}), resumed = series("b", {8, 12, 16});
    const RunComparison comparison = compare(a, resumed);
    QVERIFY(comparison.verdict.outcome == Outcome::Identical);
    QCOMPARE(comparison.steps.size(), std::size_t(4));
    QVERIFY(comparison.steps[0].status == StepStatus::OnlyInA);
    QVERIFY(comparison.steps[1].status == StepStatus::Identical);
    QVERIFY(comparison.steps[3].status == StepStatus::OnlyInB);
    QVERIFY(comparison.shownStep == 12); // the last common one
    QVERIFY(!comparison.firstDivergence);
    QCOMPARE(comparison.verdict.coverage.tensorsTotal, std::uint64_t(4)); // two steps of two
}

void TestStepPlan::hole()
{
    const auto a = series("a", {4, 8, 12}), b = series("b", {4, 12});
    QVERIFY(compare(a, b).verdict.outcome == Outcome::Undecided);
    QVERIFY(has(compare(a, b).verdict.reason, "missing inside the overlap"));
    QVERIFY(compare(b, a).steps[1].status == StepStatus::OnlyInB);
    QVERIFY(!compare(b, a).steps[1].reason.empty());
    QVERIFY(compare(a, b, range(12, 12)).verdict.outcome == Outcome::Identical);
    b->setComplete(false);
    QVERIFY(compare(a, b, range(12, 12)).verdict.outcome == Outcome::Undecided);
}

/// What the user's choice of steps leaves out is not said to be missing.
void TestStepPlan::chosenStepsAreSaid()
{
    const auto a = series("a", {2, 4, 6}), b = series("b", {4, 6, 8});
    const auto other = std::make_shared<MemoryRun>("other");
    for (const Step step : {4, 6, 8})
        other->addStep(step, checkpoint(2));
    const auto sentence = [&](const StepSelection &steps) {
        return compare(a, other, steps).firstDivergence->sentence;
    };
    QVERIFY(has(sentence({}), "no earlier step is common to both"));
    QVERIFY(has(sentence(only(6, 6)), "earlier common steps were left out"));
    QVERIFY(has(sentence(range(5, 6)), "earlier common steps were left out"));
    QVERIFY(has(sentence(only(4, 4)), "no earlier step is common to both"));
    QVERIFY(has(sentence(only(4, 6)), "In A's step 4 against B's step 6"));
    QVERIFY(has(planSteps(*a, *b, range(2, 2)).refusal, "lies in 2:2"));
}

QTEST_APPLESS_MAIN(TestStepPlan)
#include "tst_step_plan.moc"
