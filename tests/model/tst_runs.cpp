// SPDX-License-Identifier: GPL-3.0-or-later
// Series against series: the first divergence and what proves it.
#include "tests/support/runs_in_memory.h"

#include <QJsonArray>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

class TestRuns : public QObject
{
    Q_OBJECT

private slots:
    void unreadStepIsCounted();
    void stepsOfOneSideAreCounted();
    void holesAreOfOneSideToo();
    void runsThatMeetAgain();
    void longSeries();
    void bisection();
    void unfinishedSave();
    void unreadableStepIsNoUnfinishedOne();
    void randomSeries();
    void toleranceIsNoProof();
    void nothingOpens();
    void contextInScope();
    void causalOrder();
    void recordedOrder();
    void noOrderAndNoStage();
    void stopAndProgress();
};

void TestRuns::unreadStepIsCounted()
{
    const auto a = series("a", {4, 8, 12}), b = series("b", {4, 12});
    b->addStep(8, nullptr); // does not open
    const Verdict verdict = compare(a, b).verdict;
    QVERIFY(verdict.outcome == Outcome::Undecided);
    QCOMPARE(verdict.coverage.stepsUnread, std::uint64_t(1));
    QVERIFY(has(verdict.sentence, "1 step could not be opened"));
    QCOMPARE(compare(a, b, range(12, 12)).verdict.coverage.stepsUnread, std::uint64_t(0));

    // Between what was seen to be equal and what was seen to differ lies a step that nobody read.
    const auto c = series("c", {4});
    c->addStep(8, nullptr);
    c->addStep(12, checkpoint(12.5F));
    const FirstDivergence divergence = *compare(a, c).firstDivergence;
    QCOMPARE(
        QString::fromStdString(divergence.sentence),
        QStringLiteral("Between step 4 (equal) and step 12 (different): optimizer.m (optimizer) "
                       "differs first in causal order. Step 8 between them could not be "
                       "compared whole: it may begin there."));
    QVERIFY(!divergence.provenEqualBefore);
}

void TestRuns::stepsOfOneSideAreCounted()
{
    // A run that stopped early is equal as far as it went, and the sentence does not say "all".
    const Verdict verdict = compare(series("a", {4, 8, 12, 16}), series("b", {4, 8})).verdict;
    QVERIFY(verdict.outcome == Outcome::Identical);
    QCOMPARE(verdict.coverage.stepsOneSided, std::uint64_t(2));
    QVERIFY(has(verdict.sentence, "2 steps are on one side only"));
    QVERIFY(!has(verdict.sentence, "all "));
    const Verdict whole = compare(series("a", {4, 8}), series("b", {4, 8})).verdict;
    QCOMPARE(whole.coverage.stepsOneSided, std::uint64_t(0));
    QVERIFY(has(whole.sentence, "all "));
}

void TestRuns::holesAreOfOneSideToo()
{
    // As many as are listed: 4 and 16 outside the overlap, 12 inside it.
    const RunComparison result = compare(series("a", {4, 8, 12, 16}), series("b", {2, 8, 14, 18}));
    const auto listed =
        std::count_if(result.steps.begin(), result.steps.end(), [](const StepMark &m) {
            return m.status == StepStatus::OnlyInA || m.status == StepStatus::OnlyInB;
        });
    QCOMPARE(result.verdict.coverage.stepsOneSided, std::uint64_t(listed));
    QCOMPARE(listed, std::ptrdiff_t(6));
    QVERIFY(has(result.verdict.sentence, "6 steps are on one side only"));
}

void TestRuns::runsThatMeetAgain()
{
    // Step 4 alone differs: what differs there did not persist, and is not called a fork.
    const auto a = series("a", {2, 4, 6, 8, 10, 12}), b = series("b", {2, 6, 8, 10, 12});
    b->addStep(4, checkpoint(4.5F));
    RunComparison result = compare(a, b, range(4, 12));
    QVERIFY(result.verdict.outcome == Outcome::Different);
    QCOMPARE(result.firstDivergence->step, std::optional<Step>(4));
    QCOMPARE(result.firstDivergence->sentence,
             std::string("Step 4 differs (first optimizer.m), and steps 6, 8, 10 and 1 "
                         "more are equal again: this difference did not persist."));
    QCOMPARE(compare(a, b, range(2, 6)).firstDivergence->provenEqualStep, std::optional<Step>(2));
    QVERIFY(has(compare(a, b, range(2, 6)).firstDivergence->sentence,
                "and step 6 is equal again: this difference did not persist."));
    // Halving rests on steps staying apart: here all are read, and the report is the same.
    StepSelection halves = range(4, 12);
    halves.bisect = true;
    const RunComparison halved = compare(a, b, halves);
    QCOMPARE(reportOf(halved), reportOf(compare(a, b, range(4, 12))));
    QCOMPARE(halved.verdict.coverage.stepsInferred, std::uint64_t(0));
    // They part, meet, and part for good.
    const auto c = series("c", {2, 6, 8});
    for (const Step step : {4, 10, 12})
        c->addStep(step, checkpoint(float(step) + 0.5F));
    QVERIFY(has(compare(a, c).firstDivergence->sentence,
                "steps 6 and 8 are equal again: this difference did not persist; step 10 differs "
                "again."));
}

/// With work that grows with the square of the steps this would not end while one waits.
void TestRuns::longSeries()
{
    const SourcePtr source = checkpoint(1);
    constexpr Step Count = 60'000;
    const auto run = std::make_shared<MemoryRun>("a");
    for (Step step = 0; step < Count; ++step)
        run->addStep(step, source);
    for (const bool bisect : {false, true}) {
        StepSelection selection;
        selection.bisect = bisect;
        const CpuBackend backend;
        SerialExecutor serial;
        RunComparer comparer(run, run, selection, {}, backend, serial);
        while (comparer.advance({}))
            comparer.progress();
        const RunComparison done = comparer.snapshot();
        const auto &steps = done.steps;
        QCOMPARE(steps.size(), std::size_t(Count));
        QVERIFY(std::all_of(steps.begin(), steps.end(), [](const StepMark &mark) {
            return mark.status == StepStatus::Identical;
        }));
    }
}

void TestRuns::bisection()
{
    StepSelection halves;
    halves.bisect = true;
    Steps steps(100);
    for (std::size_t i = 0; i < steps.size(); ++i)
        steps[i] = Step(i + 1);
    for (const Step fork : {1, 2, 37, 64, 99, 100}) {
        const auto a = series("a", steps), b = std::make_shared<MemoryRun>("b");
        for (const Step step : steps)
            b->addStep(step, checkpoint(float(step) + (step >= fork ? 0.5F : 0)));
        const RunComparison whole = compare(a, b), found = compare(a, b, halves);
        QCOMPARE(*found.firstDivergence->step, fork);
        QVERIFY(found.firstDivergence->sentence == whole.firstDivergence->sentence);
        QVERIFY(found.verdict.outcome == Outcome::Different);
        std::size_t read = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QVERIFY(found.steps[i].status == whole.steps[i].status);
            read += found.steps[i].inferred ? 0u : 1u;
        }
        QVERIFY(read <= 10); // of a hundred
        const QJsonArray marks = reportOf(found)["steps"].toArray();
        const auto inferred = std::count_if(marks.begin(), marks.end(), [](const auto &mark) {
            return mark.toObject()["proof"] == QStringLiteral("inferred");
        });
        QCOMPARE(std::size_t(inferred), steps.size() - read);
    }
    // Equal at both ends is no equality of what lies between.
    const RunComparison same = compare(series("a", steps), series("b", steps), halves);
    QVERIFY(same.verdict.outcome == Outcome::Undecided);
    QVERIFY(!same.firstDivergence);
    QVERIFY(same.steps[50].inferred && same.steps[50].status == StepStatus::Identical);
    QCOMPARE(same.verdict.coverage.stepsInferred, std::uint64_t(98));
    QVERIFY(has(same.verdict.sentence, "98 steps were inferred, not read"));
    QVERIFY(same.shownStep == std::optional<Step>(100)); // the last common one
}

void TestRuns::unfinishedSave()
{
    const auto a = series("a", {4, 8}), b = series("b", {4, 8});
    a->addStep(12, checkpoint(12), false);
    b->addStep(12, checkpoint(13));
    const RunComparison comparison = compare(a, b);
    QVERIFY(comparison.verdict.outcome == Outcome::Undecided);
    QVERIFY(comparison.steps[2].status == StepStatus::Undecided);
    QVERIFY(has(comparison.steps[2].reason, "A's save is not finished"));
    QVERIFY(compare(a, b, range(4, 8)).verdict.outcome == Outcome::Identical);
    QVERIFY(compare(a, b, only(12, 12)).verdict.outcome == Outcome::Different); // asked for
}

/// It is tried, counted as unread, and not passed over for an older step.
void TestRuns::unreadableStepIsNoUnfinishedOne()
{
    const auto a = series("a", {4, 8}), b = series("b", {4, 8, 12});
    a->addStep(12, nullptr).unreadable("is empty");
    const RunComparison comparison = compare(a, b);
    QVERIFY(comparison.verdict.outcome == Outcome::Undecided);
    QCOMPARE(comparison.verdict.coverage.stepsUnread, std::uint64_t(1));
    QCOMPARE(comparison.verdict.coverage.stepsUnfinished, std::uint64_t(0));
    QVERIFY(has(comparison.steps[2].reason, "is no checkpoint"));
    QVERIFY(compare(a, single(checkpoint(8))).verdict.outcome == Outcome::NotCompared);
    a->addStep(16, checkpoint(16), false); // an unfinished save is passed over
    QVERIFY(compare(a, single(checkpoint(8))).verdict.outcome == Outcome::NotCompared);
    QVERIFY(compare(a, single(checkpoint(8)), only(8, 8)).verdict.outcome == Outcome::Identical);
}

void TestRuns::randomSeries()
{
    constexpr unsigned Seed = 23;
    std::mt19937 random(Seed);
    int proven = 0;
    for (int round = 0; round < 1500; ++round) {
        const auto a = std::make_shared<MemoryRun>("a"), b = std::make_shared<MemoryRun>("b");
        std::optional<Step> firstDifferent, lastEqual;
        bool anyHole = false, anyBroken = false, anyCompared = false, allEqual = true;
        const Step last = Step(2 + random() % 5);
        for (Step step = 1; step <= last; ++step) {
            const bool edge = step == 1 || step == last;
            switch (edge ? random() % 3 : random() % 5) {
            case 0: // unlike
                a->addStep(step, checkpoint(1));
                b->addStep(step, checkpoint(2));
                anyCompared = true;
                if (!firstDifferent) {
                    firstDifferent = step;
                    proven += lastEqual && allEqual;
                }
                break;
            case 1: // one side does not open
                a->addStep(step, random() % 2 ? nullptr : checkpoint(1));
                b->addStep(step, a->open(a->steps().size() - 1, {}).ok() ? nullptr : checkpoint(1));
                anyBroken = true;
                allEqual &= firstDifferent.has_value();
                break;
            case 3: // missing on one side
                (random() % 2 ? a : b)->addStep(step, checkpoint(1));
                anyHole = true;
                break;
            default: // equal
                a->addStep(step, checkpoint(1));
                b->addStep(step, checkpoint(1));
                anyCompared = true;
                if (!firstDifferent)
                    lastEqual = step;
            }
        }
        const Outcome expected = !anyCompared ? Outcome::NotCompared
            : firstDifferent                  ? Outcome::Different
            : anyBroken || anyHole            ? Outcome::Undecided
                                              : Outcome::Identical;
        for (const bool swapped : {false, true}) {
            const RunComparison comparison = swapped ? compare(b, a) : compare(a, b);
            const QByteArray where = "seed 23, round " + QByteArray::number(round);
            QVERIFY2(comparison.verdict.outcome == expected, where);
            QVERIFY2(comparison.verdict.reason.empty() == (exitStatus(expected) < 2), where);
            QCOMPARE(comparison.firstDivergence.has_value(), firstDifferent.has_value());
            if (!firstDifferent)
                continue;
            const FirstDivergence &divergence = *comparison.firstDivergence;
            QVERIFY2(divergence.step == firstDifferent, where);
            QVERIFY2(comparison.shownStep == firstDifferent, where);
            QVERIFY2(comparison.shown.tensors[0].status == ItemStatus::Different, where);
            QVERIFY2(comparison.shown.tensors[0].stats != nullptr, where);
            QVERIFY2(divergence.provenEqualStep == lastEqual, where);
            QVERIFY2(divergence.provenEqualBefore == (allEqual && lastEqual), where);
            QCOMPARE(divergence.name, std::string("optimizer.m")); // acts before the weights
        }
    }
    QVERIFY(proven > 50);
}

void TestRuns::toleranceIsNoProof()
{
    const auto a = std::make_shared<MemoryRun>("a"), b = std::make_shared<MemoryRun>("b");
    a->addStep(4, checkpoint(1.0f)).addStep(8, checkpoint(1.0f));
    b->addStep(4, checkpoint(1.001f)).addStep(8, checkpoint(2.0f));
    CompareOptions options;
    options.tolerance.atol = 0.01;
    const RunComparison comparison = compare(a, b, {}, options);
    QVERIFY(comparison.verdict.outcome == Outcome::Different);
    QVERIFY(comparison.firstDivergence->step == 8);
    QVERIFY(!comparison.firstDivergence->provenEqualBefore);
    QVERIFY(has(comparison.steps[0].reason, "within the tolerance"));
    QVERIFY(compare(a, b, only(4, 4), options).verdict.outcome == Outcome::WithinTolerance);
}

void TestRuns::nothingOpens()
{
    const auto good = single(checkpoint(1)), bad = single(nullptr);
    for (const auto &comparison : {compare(good, bad), compare(bad, good)}) {
        QVERIFY(comparison.verdict.outcome == Outcome::NotCompared);
        QVERIFY(has(comparison.verdict.reason, "is no checkpoint"));
        QCOMPARE(comparison.diagnostics.size(), std::size_t(1));
    }
    const auto a = series("a", {4, 8}), broken = std::make_shared<MemoryRun>("b");
    broken->addStep(4, nullptr).addStep(8, nullptr);
    const RunComparison comparison = compare(a, broken);
    QVERIFY(comparison.verdict.outcome == Outcome::NotCompared);
    QVERIFY(has(comparison.verdict.reason, "is no checkpoint"));
    QVERIFY(comparison.verdict.strength == Strength::None);
}

void TestRuns::contextInScope()
{
    const auto a = std::make_shared<MemoryRun>("a"), b = std::make_shared<MemoryRun>("b");
    a->addStep(4, checkpoint(1, 0.1)).addStep(8, checkpoint(1, 0.1));
    b->addStep(4, checkpoint(1, 0.2)).addStep(8, checkpoint(1, 0.1));
    QVERIFY(compare(a, b).verdict.outcome == Outcome::Identical);
    CompareOptions options;
    options.pairing.scope = {StateClass::Recipe};
    const RunComparison comparison = compare(a, b, {}, options);
    QVERIFY(comparison.verdict.outcome == Outcome::Different);
    QVERIFY(comparison.shownStep == 4); // the first that differs
    QVERIFY(comparison.shown.tensors.empty());
}

void TestRuns::causalOrder()
{
    // Every class differs; who acts first is named first, then the next one once that is equal.
    const std::vector<std::pair<StateClass, const char *>> order = {
        {StateClass::Data, "batch"},          {StateClass::Rng, "rng"},
        {StateClass::Scheduler, "scheduler"}, {StateClass::Counter, "counter"},
        {StateClass::Scaler, "scaler"},       {StateClass::Optimizer, "optimizer"},
        {StateClass::Weights, "weight"},      {StateClass::Unknown, "unknown"}};
    CheckpointComparison comparison;
    for (std::size_t i = order.size(); i-- > 0;) {
        TensorRow row;
        row.name = std::string(1, char('a' + order.size() - i)); // against the alphabet
        row.stateClass = order[i].first;
        row.status = i % 2 ? ItemStatus::Different : ItemStatus::OnlyInB;
        comparison.tensors.push_back(row);
    }
    TensorRow context;
    context.name = "0";
    context.stateClass = StateClass::Recipe;
    context.status = ItemStatus::Different;
    comparison.tensors.push_back(context);
    for (const auto &[stateClass, stage] : order) {
        const auto first = firstDivergenceIn(comparison);
        QVERIFY(first.has_value());
        QCOMPARE(first->stage, std::string(stage));
        auto row = std::find_if(comparison.tensors.begin(), comparison.tensors.end(),
                                [&](const TensorRow &each) { return each.name == first->name; });
        QVERIFY(row->stateClass == stateClass);
        QCOMPARE(first->kind,
                 std::string(row->status == ItemStatus::Different ? "value" : "missing"));
        row->status = ItemStatus::Identical;
    }
    QVERIFY(!firstDivergenceIn(comparison)); // context alone is no divergence
    // Neither is what could not be compared, or what is within the tolerance.
    comparison.tensors[0].status = ItemStatus::NotCompared;
    comparison.tensors[1].status = ItemStatus::Different;
    comparison.tensors[1].withinTolerance = true;
    QVERIFY(!firstDivergenceIn(comparison));
}

void TestRuns::recordedOrder()
{
    const auto build = [](float third) {
        auto source = std::make_shared<MemorySource>();
        source->addFloats("z.first", {1}).executionOrder = 0;
        source->addFloats("y.second", {2}).executionOrder = 1;
        source->addFloats("grad.third", {third}).executionOrder = 2;
        source->addFloats("a.fourth", {third}).executionOrder = 3;
        source->addFloats("batch.ids", {third}); // not recorded: after what is
        source->finish();
        return source;
    };
    const RunComparison comparison = compare(single(build(3), 1), single(build(4), 1));
    const FirstDivergence &first = *comparison.firstDivergence;
    QCOMPARE(first.name, std::string("grad.third"));
    QCOMPARE(first.stage, std::string("backward"));
    QCOMPARE(first.provenEqualName, std::string("y.second"));
    QVERIFY(first.provenEqualBefore && !first.provenEqualStep);
    QVERIFY(has(first.sentence, "everything recorded before it is equal, up to y.second"));

    // One unread record before it, and nothing is proven.
    auto damaged = build(4);
    damaged->breakTensor(MemorySource::pathOf("z.first"));
    const RunComparison unsure = compare(single(build(3), 1), single(damaged, 1));
    QCOMPARE(unsure.firstDivergence->name, std::string("grad.third"));
    QVERIFY(!unsure.firstDivergence->provenEqualBefore);
    QVERIFY(unsure.firstDivergence->provenEqualName.empty());
}

void TestRuns::noOrderAndNoStage()
{
    const auto build = [](float batch) {
        auto source = std::make_shared<MemorySource>();
        source->addFloats("rank_0.grad_norm", {batch});
        source->addFloats("rank_1.hidden", {batch});
        source->addFloats("rank_1.loss", {batch});
        source->addFloats("rank_1.x", {batch});
        source->finish();
        return source;
    };
    const RunComparison comparison = compare(single(build(3), 1), single(build(4), 1));
    const FirstDivergence &first = *comparison.firstDivergence;
    QCOMPARE(first.name, std::string("rank_1.loss")); // by name the norm would be
    QVERIFY(!first.provenEqualBefore);
    QVERIFY(has(first.sentence,
                "Whether it is the first is not known: of 2 more tensors that differ or have no "
                "partner neither order nor stage is recorded: rank_1.hidden, rank_1.x."));
}

void TestRuns::stopAndProgress()
{
    const auto a = series("a", {4, 8, 12}), b = series("b", {4, 8, 12});
    const CpuBackend backend;
    SerialExecutor serial;
    RunComparer comparer(a, b, {}, {}, backend, serial);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(comparer.advance(stop.get_token())); // not the end, and nothing done
    QVERIFY(comparer.snapshot().verdict.outcome == Outcome::Undecided);
    QVERIFY(!comparer.snapshot().finished);
    QVERIFY(comparer.snapshot().steps[0].status == StepStatus::Pending);
    std::uint64_t before = 0;
    while (comparer.advance({})) {
        const Progress progress = comparer.progress();
        QVERIFY(progress.bytesDone <= progress.bytesTotal);
        QVERIFY(progress.bytesDone >= before);
        before = progress.bytesDone;
    }
    QVERIFY(comparer.snapshot().finished);
    QVERIFY(comparer.snapshot().verdict.outcome == Outcome::Identical);
    QVERIFY(!comparer.advance({})); // stays at its end
}

QTEST_APPLESS_MAIN(TestRuns)
#include "tst_runs.moc"
