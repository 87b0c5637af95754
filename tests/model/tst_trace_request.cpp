// SPDX-License-Identifier: GPL-3.0-or-later
// What of two traces is compared: the steps and records that were asked for, what was left out, and
// what the size of traces may cost.
#include "model/compare/run_comparer.h"
#include "model/traces/trace_divergence.h"
#include "tests/support/compared_traces.h"

#include "gpu/cpu_backend.h"
#include "tests/support/memory_source.h"

#include <QtTest>

#include <limits>
#include <map>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

Observation proven(std::string digest)
{
    return seen(std::move(digest), DigestKind::Sha256);
}

TraceRecord tensor(std::string name, std::string stage, std::string digest)
{
    TraceRecord record = call(std::move(name), 0, {}, {proven(std::move(digest))});
    record.role = RecordRole::Tensor;
    record.stage = std::move(stage);
    return record;
}

TraceRequest onlyStep(Step a, Step b)
{
    TraceRequest request;
    request.steps.only = StepSelection::Pair{a, b};
    return request;
}

Outcome outcomeOf(const TraceComparison &comparison)
{
    return decide(comparison.facts).outcome;
}

QString text(const std::string &words)
{
    return QString::fromStdString(words);
}

/// A checkpoint beside a trace.
class TracedRun final : public Run
{
public:
    TracedRun(std::shared_ptr<const Run> run, std::shared_ptr<const Trace> trace)
        : m_run(std::move(run)),
          m_trace(std::move(trace))
    {
    }

    const std::string &path() const override { return m_run->path(); }
    const std::string &format() const override { return m_run->format(); }
    const std::vector<RunStep> &steps() const override { return m_run->steps(); }
    const std::vector<MetricSeries> &metrics() const override { return m_run->metrics(); }
    std::shared_ptr<const Trace> trace() const override { return m_trace; }
    const Diagnostics &diagnostics() const override { return m_run->diagnostics(); }
    bool complete() const override { return true; }
    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token stop) const override
    {
        return m_run->open(index, std::move(stop));
    }

private:
    std::shared_ptr<const Run> m_run;
    std::shared_ptr<const Trace> m_trace;
};

std::shared_ptr<const Run> checkpoint(std::shared_ptr<const Trace> trace)
{
    auto source = std::make_shared<MemorySource>();
    source->addFloats("model.weight", {1, 2});
    source->finish();
    auto run = std::make_shared<MemoryRun>("run");
    run->addStep(std::nullopt, source);
    return std::make_shared<TracedRun>(run, std::move(trace));
}

/// Each record at a place up to `reach` from its own, the same on every run.
std::vector<TraceRecord> moved(std::vector<TraceRecord> records, std::size_t reach)
{
    std::uint64_t state = 1;
    std::vector<std::pair<std::uint64_t, std::size_t>> places;
    for (std::size_t i = 0; i < records.size(); ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        places.emplace_back(i + (state >> 33) % reach, i);
    }
    std::sort(places.begin(), places.end());
    std::vector<TraceRecord> result;
    for (const auto &[place, i] : places)
        result.push_back(std::move(records[i]));
    return result;
}

} // namespace

class TraceRequestTest : public QObject
{
    Q_OBJECT

private slots:
    void aStepMeetsTheStepAskedFor()
    {
        // --step 2:12
        FakeTrace a, b;
        a.rankOf(0, {{1, {tensor("w", "weight", "1")}}, {2, {tensor("w", "weight", "2")}}});
        b.rankOf(0, {{1, {tensor("w", "weight", "1")}}, {12, {tensor("w", "weight", "2")}}});
        const TraceComparison equal = compared(a, b, onlyStep(2, 12));
        QVERIFY(outcomeOf(equal) == Outcome::Identical);
        QCOMPARE(equal.coverage.records, std::uint64_t(1));
        QVERIFY(text(coverageSentence(equal.coverage)).contains("iteration 2 against B's 12"));
        const TraceComparison unlike = compared(a, b, onlyStep(1, 12));
        QVERIFY(outcomeOf(unlike) == Outcome::Different);
        QVERIFY(text(firstDivergenceIn(unlike)->sentence)
                    .startsWith("In A's step 1 against B's step 12, on rank 0"));
        const TraceComparison none = compared(a, b, onlyStep(2, 3));
        QVERIFY(outcomeOf(none) == Outcome::NotCompared);
        QVERIFY(text(none.refusal).contains("the trace of B has no iteration 3"));
    }

    void whyNothingMeets()
    {
        FakeTrace a, b, empty;
        a.rankOf(0, {{1, {tensor("w", "weight", "1")}}, {3, {tensor("w", "weight", "2")}}});
        b.rankOf(0, {{5, {tensor("w", "weight", "1")}}});
        const TraceComparison apart = compared(a, b, {});
        QVERIFY(outcomeOf(apart) == Outcome::NotCompared);
        QVERIFY(text(apart.refusal)
                    .endsWith("A has 1 and 3, B has 5; --step 1:5 lets the first ones meet"));
        // Iterations that lie between those of the other side contradict nothing.
        const auto toldOf = [](const std::vector<std::int64_t> &inA) {
            FakeTrace many, other;
            std::map<std::int64_t, std::vector<TraceRecord>> steps;
            for (const std::int64_t step : inA)
                steps[step] = {tensor("w", "weight", "1")};
            many.rankOf(0, steps);
            other.rankOf(0, {{3, {tensor("w", "weight", "1")}}, {4, {tensor("w", "weight", "1")}}});
            return text(compared(many, other, {}).refusal);
        };
        QVERIFY(toldOf({1, 2, 9}).contains("A has 1, 2 and 9, B has 3 and 4;"));
        QVERIFY(toldOf({5, 6, 7, 8, 9}).contains("A has 5 to 9, B has 3 and 4;"));
        QVERIFY(toldOf({1, 2, 6, 7, 9}).contains("A has 5 from 1 to 9, B has 3 and 4;"));
        constexpr std::int64_t Lowest = std::numeric_limits<std::int64_t>::min();
        QVERIFY(toldOf({Lowest, -1, std::numeric_limits<std::int64_t>::max()})
                    .contains("A has -9223372036854775808, -1 and 9223372036854775807, B"));
        QVERIFY(text(compared(a, empty, {}).refusal).contains("trace of B has no record"));
        QVERIFY(text(compared(empty, a, {}).refusal).contains("trace of A has no record"));
        QVERIFY(text(compared(empty, empty, {}).refusal).contains("neither trace"));
    }

    void stepsOfARangeThatOneSideLacksAreAHole()
    {
        FakeTrace a, b;
        a.rankOf(0,
                 {{1, {tensor("w", "weight", "1")}},
                  {2, {tensor("w", "weight", "2")}},
                  {3, {tensor("w", "weight", "3")}},
                  {9, {tensor("w", "weight", "9")}}});
        b.rankOf(0, {{1, {tensor("w", "weight", "1")}}, {3, {tensor("w", "weight", "3")}}});
        TraceRequest request;
        request.steps.range = {1, 3};
        const TraceComparison result = compared(a, b, request);
        QVERIFY(result.facts.hole);
        QCOMPARE(result.coverage.iterationsOnlyA, std::vector<std::int64_t>{2});
    }

    void whatIsLeftOutIsCountedAndNeverAPass()
    {
        FakeTrace a, b;
        a.rank(0, {tensor("w", "weight", "1"), tensor("g", "grad", "2")});
        b.rank(0, {tensor("w", "weight", "1"), tensor("g", "grad", "3")});
        TraceRequest request;
        request.items.exclude = {"g"};
        const TraceComparison result = compared(a, b, request);
        QVERIFY(outcomeOf(result) == Outcome::Identical); // of what is in scope
        QCOMPARE(result.coverage.excludedA, std::uint64_t(1));
        QVERIFY(text(coverageSentence(result.coverage)).contains("1 of A, 1 of B"));
        request.items.exclude = {"*"};
        const TraceComparison nothing = compared(a, b, request);
        QVERIFY(outcomeOf(nothing) == Outcome::Undecided);
        QVERIFY(nothing.facts.nothingInScope);
        TraceRequest scope;
        scope.items.scope = std::vector{StateClass::Weights};
        QVERIFY(outcomeOf(compared(a, b, scope)) == Outcome::Identical);
        scope.items.scope = std::vector{StateClass::Unknown};
        QVERIFY(outcomeOf(compared(a, b, scope)) == Outcome::Different);
        scope.items.scope = std::vector{StateClass::Optimizer};
        QVERIFY(outcomeOf(compared(a, b, scope)) == Outcome::Undecided);
    }

    void globsMeetScopesToo()
    {
        const auto layer = [](std::string number, std::string digest) {
            TraceRecord record = tensor("mul", "forward", std::move(digest));
            record.scope = "layers." + number;
            record.key += record.scope;
            return record;
        };
        FakeTrace a, b;
        a.rank(0, {layer("0", "1"), layer("1", "2")});
        b.rank(0, {layer("0", "1"), layer("1", "9")});
        TraceRequest request;
        for (const char *glob : {"layers.0", "layers.0.mul", "*.0.*"}) {
            request.items.include = {glob};
            const TraceComparison result = compared(a, b, request);
            QVERIFY(outcomeOf(result) == Outcome::Identical);
            QCOMPARE(result.coverage.records, std::uint64_t(1));
        }
    }

    void nothingIsProvenBeforeWhatFollowsALeftOutRecord()
    {
        FakeTrace a, b;
        a.rank(0,
               {tensor("x", "forward", "1"), tensor("y", "forward", "2"),
                tensor("z", "forward", "3")});
        b.rank(0,
               {tensor("x", "forward", "1"), tensor("y", "forward", "8"),
                tensor("z", "forward", "9")});
        QVERIFY(firstDivergenceIn(compared(a, b))->provenEqualBefore);
        TraceRequest request;
        request.items.exclude = {"y"};
        const auto divergence = firstDivergenceIn(compared(a, b, request));
        QCOMPARE(text(divergence->name), QString("z"));
        QVERIFY(!divergence->provenEqualBefore);
    }

    void aTraceOfOneSideIsSaidInTheSentence()
    {
        FakeTrace trace;
        trace.rank(0, {tensor("w", "weight", "1"), tensor("g", "grad", "2")});
        const CpuBackend backend;
        SerialExecutor serial;
        for (const bool inA : {true, false}) {
            RunComparer comparer(checkpoint(inA ? shared(trace) : nullptr),
                                 checkpoint(inA ? nullptr : shared(trace)), {}, {}, backend,
                                 serial);
            while (comparer.advance({}))
                ;
            const RunComparison result = comparer.snapshot();
            QCOMPARE(result.verdict.coverage.recordsCompared, std::uint64_t(0));
            QCOMPARE(result.verdict.coverage.recordsTotal, std::uint64_t(2));
            QVERIFY(
                text(result.verdict.sentence).contains("0 of 2 records of the traces compared"));
            const auto said = std::any_of(
                result.diagnostics.begin(), result.diagnostics.end(), [](const Diagnostic &each) {
                    return each.code == "one-trace" && each.severity == Severity::Warning;
                });
            QVERIFY(said);
        }
    }

    void aRecordWithoutAStageHasALink()
    {
        FakeTrace a, b;
        TraceRecord mark = tensor("num_microbatches", "", "1");
        mark.role = RecordRole::Phase;
        a.rank(0, {tensor("w", "weight", "1"), tensor("x", "", "2"), mark});
        b.rank(0, {tensor("w", "weight", "1"), tensor("x", "", "3"), mark});
        const TraceComparison result = compared(a, b);
        QCOMPARE(result.stages.size(), std::size_t(2));
        QCOMPARE(text(result.stages[1].stage), QString("unknown"));
        QCOMPARE(result.stages[1].evidence.compared, std::uint64_t(2));
        QCOMPARE(result.stages[1].evidence.different, std::uint64_t(1));
        QCOMPARE(text(firstDivergenceIn(result)->stage), QString("unknown"));
    }

    void manyStepsTakeTimeInProportion()
    {
        // The plan once looked through all segments for every segment of every step.
        FakeTrace trace;
        std::map<std::int64_t, std::vector<TraceRecord>> steps;
        for (std::int64_t step = 1; step <= 10'000; ++step)
            steps[step] = {tensor("w", "weight", "1")};
        trace.rankOf(0, std::move(steps));
        QElapsedTimer clock;
        clock.start();
        const TraceComparison result = compared(trace, trace);
        QVERIFY(outcomeOf(result) == Outcome::Identical);
        QCOMPARE(result.coverage.records, std::uint64_t(10'000));
        QVERIFY2(clock.elapsed() < 20'000, qPrintable(QString::number(clock.elapsed())));
    }

    void manyMovedRecordsTakeTimeInProportion()
    {
        std::vector<TraceRecord> records;
        for (int i = 0; i < 20'000; ++i)
            records.push_back(tensor("t" + std::to_string(i), "forward", std::to_string(i)));
        for (const std::size_t reach : {400u, 20'000u}) {
            FakeTrace a, b;
            a.rank(0, records);
            b.rank(0, moved(records, reach));
            QElapsedTimer clock;
            clock.start();
            const TraceComparison result = compared(a, b);
            QVERIFY2(clock.elapsed() < 20'000, qPrintable(QString::number(clock.elapsed())));
            QCOMPARE(result.coverage.records, std::uint64_t(20'000));
            QCOMPARE(result.coverage.onlyA + result.coverage.onlyB, std::uint64_t(0));
            QVERIFY(outcomeOf(result) == Outcome::Different);
        }
    }

    void largeRecordsAreAlignedInFewAndThatIsSaid()
    {
        // Each takes 8 MiB: no window of 256 of them is ever in memory.
        const auto large = [](const std::string &name) {
            TraceRecord record = tensor(name, "forward", name);
            record.caller = std::string(std::size_t(8) << 20, 'x');
            return record;
        };
        FakeTrace a, b;
        std::vector<TraceRecord> inA, inB;
        for (int i = 0; i < 12; ++i) {
            inA.push_back(large("a" + std::to_string(i)));
            inB.push_back(large("b" + std::to_string(i)));
        }
        a.rank(0, std::move(inA));
        b.rank(0, std::move(inB));
        const TraceComparison result = compared(a, b);
        QVERIFY(outcomeOf(result) == Outcome::Different);
        QCOMPARE(result.coverage.onlyA, std::uint64_t(12));
        QCOMPARE(result.coverage.onlyB, std::uint64_t(12));
        QVERIFY(std::any_of(result.diagnostics.begin(), result.diagnostics.end(),
                            [](const Diagnostic &each) {
                                return each.code == "limit"
                                    && each.text.find("67,108,864 bytes") != std::string::npos;
                            }));
    }
};

QTEST_APPLESS_MAIN(TraceRequestTest)
#include "tst_trace_request.moc"
