// SPDX-License-Identifier: GPL-3.0-or-later
// Series against series: alignment, the first divergence and what proves it, metrics, the report.
#include "gpu/cpu_backend.h"
#include "model/compare/run_comparer.h"
#include "model/report/report_json.h"
#include "model/text/json_writer.h"
#include "tests/support/memory_source.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using RunPtr = std::shared_ptr<MemoryRun>;
using Steps = std::vector<Step>;

SourcePtr checkpoint(float weight, double lr = 0.1)
{
    auto source = std::make_shared<MemorySource>();
    source->addFloats("model.weight", {1, weight});
    source->addFloats("optimizer.m", {2, weight});
    source->addValue("args.lr", Value::real(lr));
    source->finish();
    return source;
}

RunPtr series(const std::string &path, const Steps &steps)
{
    auto run = std::make_shared<MemoryRun>(path);
    for (const Step step : steps)
        run->addStep(step, checkpoint(float(step)));
    return run;
}

RunPtr single(const SourcePtr &source, std::optional<Step> step = {})
{
    auto run = std::make_shared<MemoryRun>("single");
    run->addStep(step, source);
    return run;
}

RunComparison compare(const RunPtr &a, const RunPtr &b, const StepSelection &selection = {},
                      const CompareOptions &options = {})
{
    const CpuBackend backend;
    SerialExecutor serial;
    RunComparer comparer(a, b, selection, options, backend, serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

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

StepSelection only(Step a, Step b)
{
    StepSelection selection;
    selection.only = StepSelection::Pair{a, b};
    return selection;
}

StepSelection range(Step from, Step to)
{
    StepSelection selection;
    selection.range = {from, to};
    return selection;
}

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

QJsonObject reportOf(const RunComparison &comparison, const ReportOptions &options = {})
{
    const std::string text = reportJson(comparison, options);
    QJsonParseError error;
    const auto document = QJsonDocument::fromJson(QByteArray::fromStdString(text), &error);
    if (error.error != QJsonParseError::NoError)
        qFatal("%s", qPrintable(error.errorString()));
    return document.object();
}

} // namespace

class TestRuns : public QObject
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
    void metrics();
    void printedNumbersWeakenNoProof();
    void withinToleranceIsNotProvenEqual();
    void logsBesideCheckpoints();
    void printedDigits();
    void stopAndProgress();
    void jsonText();
    void jsonNumbers();
    void report();
    void reportLeavesOutWhatDoesNotApply();
};

void TestRuns::alignment()
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

void TestRuns::alignmentOfRandomSeries()
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

void TestRuns::singleCheckpoints()
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

void TestRuns::chosenSteps()
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

void TestRuns::resumedSeries()
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

void TestRuns::hole()
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
void TestRuns::chosenStepsAreSaid()
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

void TestRuns::metrics()
{
    const auto make = [](const char *name, std::vector<MetricPoint> points, bool bitsKnown = true) {
        return MetricSeries{name, "metrics.jsonl", bitsKnown, std::move(points)};
    };
    const std::vector<MetricSeries> a = {
        make("loss", {{1, 3.0}, {2, 2.5}, {3, 2.25}, {4, 2.0}}), make("only_a", {{1, 1.0}}),
        make("grad_norm", {{1, 1.0}, {2, 1.0}}), make("apart", {{1, 1.0}})};
    const std::vector<MetricSeries> b = {
        make("grad_norm", {{1, 1.0}, {2, 1.0}}, false), make("apart", {{2, 1.0}}),
        make("loss", {{0, 9.0}, {2, 2.5}, {3, 2.250001}, {4, 2.1}, {5, 1.0}})};
    const auto result = compareMetrics(a, b);
    QCOMPARE(result.size(), std::size_t(2)); // of a common name and a common step
    QCOMPARE(result[0].name, std::string("grad_norm"));
    QVERIFY(!result[0].bitsKnown && !result[0].firstBitDifference);
    QCOMPARE(result[1].commonSteps, std::uint64_t(3));
    QVERIFY(result[1].firstBitDifference == 3);
    QCOMPARE(result[1].firstPrintedDifference, (std::map<int, Step>{{4, 4}, {6, 3}}));
    QCOMPARE(result[1].differentSteps, std::uint64_t(2));
    const std::vector<MetricDifference> differences = {
        {2, 2, 1, 0, 0.0, 0.0},
        {3, 3, 1, 1, 2.250001 - 2.25, 2.250001 - 2.25},
        {4, 4, 1, 1, 2.1 - 2.0, 2.1 - 2.0}};
    QCOMPARE(result[1].differences, differences);

    // More steps than entries: they share them, and the one that differs is seen.
    std::vector<MetricPoint> many(3000), other(3000);
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i] = other[i] = {Step(i), 1.0};
    other[1501].value = 3.0;
    other[2000].value = std::numeric_limits<double>::quiet_NaN();
    const MetricComparison folded = compareMetrics({make("x", many)}, {make("x", other)}).front();
    QCOMPARE(folded.differences.size(), std::size_t(1000));
    QCOMPARE(folded.differences[500], (MetricDifference{1500, 1502, 3, 1, 0.0, 2.0}));
    QCOMPARE(folded.differences[666], (MetricDifference{1998, 2000, 3, 1, 0.0, 0.0}));
    QCOMPARE(folded.differentSteps, std::uint64_t(2));

    const auto runA = single(checkpoint(1)), runB = single(checkpoint(2));
    runA->addMetric(make("loss", {{1, 2.0}}));
    runB->addMetric(make("loss", {{1, 2.0}}));
    const RunComparison comparison = compare(runA, runB);
    QCOMPARE(comparison.metrics.size(), std::size_t(1));
    QVERIFY(std::any_of(comparison.findings.begin(), comparison.findings.end(),
                        [](const Finding &finding) {
                            return finding.id == "metric-equal"
                                && has(finding.text, "although the checkpoints differ");
                        }));
}

/// lr of a log has one digit, and the checkpoint has all of its bits.
void TestRuns::printedNumbersWeakenNoProof()
{
    const auto holding = [](double rate) {
        auto source = std::make_shared<MemorySource>();
        source->addValue("scheduler.last", Value::real(rate)).stateClass = StateClass::Scheduler;
        source->finish();
        auto run = std::make_shared<MemoryRun>("run");
        run->addStep(1, source);
        run->addStep(2, checkpoint(float(rate)));
        run->addMetric(MetricSeries{"lr", "metrics.jsonl", false, {{1, 0.1}, {3, 0.1}}});
        return run;
    };
    const auto linkOf = [](const RunComparison &comparison, Step step) {
        const auto link = std::find_if(
            comparison.chain.begin(), comparison.chain.end(),
            [&](const ChainLink &each) { return each.step == step && each.stage == "scheduler"; });
        return link == comparison.chain.end() ? ChainLink() : *link;
    };
    const RunComparison comparison = compare(holding(0.1), holding(0.1));
    QVERIFY(linkOf(comparison, 1).status == LinkStatus::Equal);
    QCOMPARE(linkOf(comparison, 1).compared, std::uint64_t(1));
    QVERIFY(linkOf(comparison, 3).status == LinkStatus::Undecided); // the log alone
}

/// Step 4 differs by less than what was asked for, step 8 by more.
void TestRuns::withinToleranceIsNotProvenEqual()
{
    const auto a = series("a", {4, 8}), b = std::make_shared<MemoryRun>("b");
    b->addStep(4, checkpoint(4.001F));
    b->addStep(8, checkpoint(9));
    CompareOptions options;
    options.tolerance.atol = 0.01;
    const RunComparison comparison = compare(a, b, {}, options);
    QVERIFY(comparison.firstDivergence && comparison.firstDivergence->step == 8);
    QVERIFY(!comparison.firstDivergence->provenEqualBefore);
    for (const ChainLink &link : comparison.chain)
        QVERIFY(link.step != 4 || link.status == LinkStatus::Undecided);
    QVERIFY(std::none_of(comparison.findings.begin(), comparison.findings.end(),
                         [](const Finding &finding) { return finding.id == "ruled-out"; }));
}

/// What is equal on disk does not hide that the logs part, and nothing is said of checkpoints that
/// are not there or that are equal.
void TestRuns::logsBesideCheckpoints()
{
    const auto make = [](const char *name, std::vector<MetricPoint> points) {
        return MetricSeries{name, "metrics.jsonl", true, std::move(points)};
    };
    for (const bool logsDiffer : {false, true}) {
        const auto runA = single(checkpoint(1)), runB = single(checkpoint(1));
        runA->addMetric(make("loss", {{1, 2.0}, {2, 1.0}}));
        runB->addMetric(make("loss", {{1, 2.0}, {2, logsDiffer ? 1.5 : 1.0}}));
        runA->addMetric(make("lr", {{1, 0.5}, {2, 0.5}}));
        runB->addMetric(make("lr", {{1, 0.5}, {2, 0.5}}));
        const RunComparison comparison = compare(runA, runB);
        QVERIFY(comparison.verdict.outcome == Outcome::Identical);
        QVERIFY(comparison.verdict.sentence.starts_with("Identical: every byte in scope is equal"));
        QCOMPARE(
            comparison.verdict.sentence.ends_with("but logged numbers differ, first loss at step "
                                                  "2."),
            logsDiffer);
        for (const Finding &finding : comparison.findings)
            QVERIFY(!has(finding.text, "although the checkpoints differ"));
    }
    // Where the checkpoints differ, that is the verdict.
    const auto runA = single(checkpoint(1)), runB = single(checkpoint(2));
    runA->addMetric(make("loss", {{1, 2.0}}));
    runB->addMetric(make("loss", {{1, 2.5}}));
    QVERIFY(!has(compare(runA, runB).verdict.sentence, "logged"));
}

namespace {

std::string byPrintf(double value, int digits)
{
    char text[400];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

} // namespace

/// "printed" means printf, ties included.
void TestRuns::printedDigits()
{
    constexpr unsigned Seed = 29;
    std::mt19937 random(Seed);
    std::vector<std::pair<double, double>> pairs = {
        {0.00005, 0.0001},         {0.00015, 0.0001}, {1.00005, 1.0001},  {2.5e-7, 0.0},
        {1e300, 1.0000000001e300}, {0.0, -0.0},       {-0.00001, 0.00001}};
    for (int i = 0; i < 20'000; ++i) {
        const double a = double(random() % 200'000) / 100'000.0; // near every tie of 4 digits
        pairs.emplace_back(a, a + double(int(random() % 5) - 2) * 5e-6);
    }
    for (const auto &[a, b] : pairs) {
        const auto result =
            compareMetrics({{"m", {}, true, {{1, a}}}}, {{"m", {}, true, {{1, b}}}});
        for (const int digits : {4, 6}) {
            const bool alike = a == b || byPrintf(a, digits) == byPrintf(b, digits);
            QVERIFY2(result[0].firstPrintedDifference.contains(digits) != alike,
                     qPrintable(QString::asprintf("%d digits of %.17g and %.17g", digits, a, b)));
        }
        const bool sameBits = std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
        QCOMPARE(result[0].firstBitDifference.has_value(), !sameBits);
    }
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

void TestRuns::jsonText()
{
    JsonWriter json(0);
    json.beginObject();
    json.key("a\"b\\").text("line\n\ttab\r\x01\x7f \xc3\xa9 \xff");
    json.key("list").beginArray().boolean(true).null().beginArray().endArray().endArray();
    json.key("object").beginObject().endObject();
    json.endObject();
    QCOMPARE(json.take(),
             std::string("{\"a\\\"b\\\\\":\"line\\n\\ttab\\r\\u0001\\u007f \xc3\xa9 \\\\xff\","
                         "\"list\":[true,null,[]],\"object\":{}}\n"));
    JsonWriter indented;
    indented.beginObject();
    indented.key("a").beginArray().number(std::int64_t(-1)).number(std::uint64_t(2)).endArray();
    indented.endObject();
    QCOMPARE(indented.take(), std::string("{\n \"a\": [\n  -1,\n  2\n ]\n}\n"));
}

void TestRuns::jsonNumbers()
{
    const auto text = [](auto number) {
        JsonWriter json(0);
        json.number(number);
        return QByteArray::fromStdString(json.take()).trimmed();
    };
    QCOMPARE(text(1.0), QByteArray("1.0"));
    QCOMPARE(text(-0.0), QByteArray("-0.0"));
    QCOMPARE(text(0.1), QByteArray("0.1"));
    QCOMPARE(text(std::numeric_limits<double>::quiet_NaN()), QByteArray("\"nan\""));
    QCOMPARE(text(std::numeric_limits<double>::infinity()), QByteArray("\"inf\""));
    QCOMPARE(text(-std::numeric_limits<double>::infinity()), QByteArray("\"-inf\""));
    QCOMPARE(text(std::numeric_limits<std::int64_t>::min()), QByteArray("-9223372036854775808"));
    QCOMPARE(text(~std::uint64_t(0)), QByteArray("18446744073709551615"));
    constexpr unsigned Seed = 1;
    std::mt19937_64 random(Seed);
    for (int i = 0; i < 50'000; ++i) {
        const double value = std::bit_cast<double>(std::uint64_t(random()));
        if (!std::isfinite(value))
            continue;
        const QByteArray written = text(value);
        QVERIFY2(written.contains('.') || written.contains('e'), written);
        QVERIFY2(std::bit_cast<std::uint64_t>(written.toDouble())
                     == std::bit_cast<std::uint64_t>(value),
                 written);
    }
}

void TestRuns::report()
{
    const auto a = std::make_shared<MemoryRun>("runs/a"), b = std::make_shared<MemoryRun>("runs/b");
    a->addStep(4, checkpoint(1)).addStep(8, checkpoint(1)).addStep(12, checkpoint(1));
    b->addStep(4, checkpoint(1)).addStep(8, checkpoint(1.5f, 0.2)).addStep(12, checkpoint(2));
    const RunComparison comparison = compare(a, b);
    const QJsonObject report = reportOf(comparison);
    QCOMPARE(report["schema"].toString(), "forkpoint.report/1");
    QCOMPARE(report["verdict"]["outcome"].toString(), "different");
    QCOMPARE(report["verdict"]["strength"].toString(), "bytes");
    QCOMPARE(report["verdict"]["coverage"]["tensors_total"].toInt(), 6);
    QCOMPARE(report["a"]["path"].toString(), "runs/a");
    QCOMPARE(report["step"].toInt(), 8);
    QCOMPARE(report["counts"]["matched"].toInt(), 2);
    QCOMPARE(report["counts"]["different"].toInt(), 2);
    QCOMPARE(report["by_class"]["weights"]["outcome"].toString(), "different");
    QCOMPARE(report["by_class"]["recipe"]["different"].toInt(), 1);
    const QJsonArray steps = report["steps"].toArray();
    QCOMPARE(steps.size(), 3);
    QCOMPARE(steps[0]["status"].toString(), "identical");
    QCOMPARE(steps[0]["proof"].toString(), "read");
    QCOMPARE(steps[0]["lane"].toString(), "checkpoint");
    QCOMPARE(steps[2]["status"].toString(), "different");
    QCOMPARE(steps[2]["different"].toInt(), 2);
    const QJsonObject first = report["first_divergence"].toObject();
    QCOMPARE(first["step"].toInt(), 8);
    QCOMPARE(first["name"].toString(), "optimizer.m");
    QCOMPARE(first["stage"].toString(), "optimizer");
    QCOMPARE(first["after"]["step"].toInt(), 4);
    QCOMPARE(first["proven_equal_before"].toBool(), true);
    const QJsonObject tensor = report["tensors"].toArray()[0].toObject();
    QCOMPARE(tensor["name"].toString(), "model.weight");
    QCOMPARE(tensor["different_elements"].toInt(), 1);
    QCOMPARE(tensor["first_index"].toInt(), 1);
    QCOMPARE(tensor["max_abs"].toDouble(), 0.5);
    QCOMPARE(tensor["max_ulp"].toInt(), 1 << 22);
    QCOMPARE(tensor["fingerprint_a"].toString().size(), 32);
    QVERIFY(!tensor.contains("histogram"));
    const QJsonObject value = report["values"].toArray()[0].toObject();
    QCOMPARE(value["name"].toString(), "args.lr");
    QCOMPARE(value["b"].toDouble(), 0.2);
    QCOMPARE(value["status"].toString(), "different");

    ReportOptions full;
    full.histograms = true;
    full.environment = {{"device", "a device"}};
    const QJsonObject more = reportOf(comparison, full);
    QCOMPARE(more["environment"]["device"].toString(), "a device");
    // |1 - 1.5| = 2^-1, and one pair without a difference.
    const QJsonObject histogram = more["tensors"]
                                      .toArray()[0]
                                      .toObject()["histogram"]
                                      .toObject()["abs_difference"]
                                      .toObject();
    QCOMPARE(histogram, (QJsonObject{{"zero", 1}, {"-1", 1}}));
}

void TestRuns::reportLeavesOutWhatDoesNotApply()
{
    const QJsonObject report = reportOf(compare(single(checkpoint(1)), single(checkpoint(1))));
    for (const char *absent : {"step", "steps", "metrics", "environment", "chain", "ranks"})
        QVERIFY2(!report.contains(QLatin1String(absent)), absent);
    QVERIFY(report.contains("first_divergence") && report["first_divergence"].isNull());
    QCOMPARE(report["verdict"]["outcome"].toString(), "identical");
    QVERIFY(!report["verdict"].toObject().contains("reason"));
    const QJsonObject tensor = report["tensors"].toArray()[0].toObject();
    for (const char *absent : {"reason", "max_abs", "first_index", "compared_as", "histogram"})
        QVERIFY2(!tensor.contains(QLatin1String(absent)), absent);
    QCOMPARE(tensor["different_elements"].toInt(-1), 0);
    QCOMPARE(tensor["value_equal"].toBool(), true);
    const QJsonObject refused = reportOf(compare(single(nullptr), single(checkpoint(1))));
    QCOMPARE(refused["verdict"]["outcome"].toString(), "not-compared");
    QVERIFY(!refused["verdict"]["reason"].toString().isEmpty());
    QCOMPARE(refused["diagnostics"].toArray().size(), 1);
}

QTEST_APPLESS_MAIN(TestRuns)
#include "tst_runs.moc"
