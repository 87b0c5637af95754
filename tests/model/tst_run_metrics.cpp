// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics beside checkpoints: what they prove, and what they do not.
#include "tests/support/runs_in_memory.h"

#include <QTest>

#include <bit>
#include <cstdio>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

class TestRunMetrics : public QObject
{
    Q_OBJECT

private slots:
    void metrics();
    void printedNumbersWeakenNoProof();
    void withinToleranceIsNotProvenEqual();
    void logsBesideCheckpoints();
    void printedDigits();
};

void TestRunMetrics::metrics()
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
void TestRunMetrics::printedNumbersWeakenNoProof()
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
void TestRunMetrics::withinToleranceIsNotProvenEqual()
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
void TestRunMetrics::logsBesideCheckpoints()
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
void TestRunMetrics::printedDigits()
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

QTEST_APPLESS_MAIN(TestRunMetrics)
#include "tst_run_metrics.moc"
