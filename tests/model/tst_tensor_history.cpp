// SPDX-License-Identifier: GPL-3.0-or-later
// A tensor over the steps, and the search for NaN, against numbers worked out by hand.
#include "gpu/cpu_backend.h"
#include "model/compare/non_finite_search.h"
#include "model/compare/tensor_history.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <limits>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr float Nan = std::numeric_limits<float>::quiet_NaN();
constexpr float Infinity = std::numeric_limits<float>::infinity();

SourcePtr sourceWith(const std::vector<float> &w)
{
    auto source = std::make_shared<MemorySource>();
    source->addFloats("w", w);
    source->finish();
    return source;
}

TensorHistory follow(const std::shared_ptr<Run> &a, const std::shared_ptr<Run> &b)
{
    const CpuBackend backend;
    HistoryBuilder builder(a, b, "w", "w");
    for (bool more = true; more;) {
        const auto advanced = builder.advance(backend, {});
        if (!advanced.ok())
            qFatal("%s", advanced.error().message().c_str());
        more = advanced.value();
    }
    return builder.history();
}

} // namespace

class TestTensorHistory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void followsDifferenceAndUpdates();
    void saysWhyAStepHasNoDifference();
    void tellsTrendsApart();
    void findsNanAndInfinitiesEverywhere();
};

void TestTensorHistory::followsDifferenceAndUpdates()
{
    auto a = std::make_shared<MemoryRun>("A"), b = std::make_shared<MemoryRun>("B");
    a->addStep(4, sourceWith({1, 2, 3, 4})).addStep(8, sourceWith({2, 2, 3, 4}));
    b->addStep(4, sourceWith({1, 2, 3, 4})).addStep(8, sourceWith({2, 2, 3, 8}));
    const TensorHistory history = follow(a, b);
    QVERIFY(history.complete);
    QCOMPARE(history.points.size(), std::size_t(2));
    const HistoryPoint &first = history.points[0], &second = history.points[1];
    QCOMPARE(first.step, Step(4));
    QCOMPARE(first.difference->differentElements, Index(0));
    QVERIFY(!first.updateA && !first.updateB); // there is no step before
    QCOMPARE(second.difference->differentElements, Index(1));
    QCOMPARE(second.difference->maxAbs, 4.0);
    QCOMPARE(second.difference->rms(), std::optional(2.0)); // sqrt(16 / 4)
    QCOMPARE(second.updateA->rms(), std::optional(0.5));    // sqrt(1 / 4)
    QCOMPARE(second.updateB->differentElements, Index(2));
}

void TestTensorHistory::saysWhyAStepHasNoDifference()
{
    auto a = std::make_shared<MemoryRun>("A"), b = std::make_shared<MemoryRun>("B");
    auto other = std::make_shared<MemorySource>();
    other->addFloats("w", {1, 2, 3});
    other->finish();
    a->addStep(1, sourceWith({1, 2})).addStep(2, sourceWith({1, 2})).addStep(3, nullptr);
    b->addStep(2, other).addStep(3, sourceWith({1, 2}));
    const TensorHistory history = follow(a, b);
    QCOMPARE(history.points.size(), std::size_t(3));
    QCOMPARE(history.points[0].reason, std::string("only A has it"));
    QCOMPARE(history.points[1].reason, std::string("shape or dtype differ"));
    QVERIFY(QString::fromStdString(history.points[2].reason)
                .contains(QStringLiteral("is no checkpoint")));
    for (const HistoryPoint &point : history.points)
        QVERIFY(!point.difference);
}

void TestTensorHistory::tellsTrendsApart()
{
    const auto differing = [](float by) {
        auto a = std::make_shared<MemoryRun>("A"), b = std::make_shared<MemoryRun>("B");
        a->addStep(1, sourceWith({0, 0}));
        b->addStep(1, sourceWith({by, by}));
        return follow(a, b).points.front();
    };
    const HistoryPoint one = differing(1), small = differing(0.25F), alike = differing(1.5F),
                       large = differing(3), none = differing(0);
    QVERIFY(trendOf(one, small) == DifferenceTrend::Damped);
    QVERIFY(trendOf(one, alike) == DifferenceTrend::Preserved);
    QVERIFY(trendOf(one, large) == DifferenceTrend::Amplified);
    QVERIFY(!trendOf(none, one)); // from nothing there is no factor
    QVERIFY(!trendOf(one, HistoryPoint()));
}

void TestTensorHistory::findsNanAndInfinitiesEverywhere()
{
    auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    a->addFloats("both", {Nan, 1, 2}); // equal on both sides, so never measured
    b->addFloats("both", {Nan, 1, 2});
    a->addFloats("clean", {1, 2});
    b->addFloats("clean", {1, 3});
    a->addFloats("only_a", {Infinity, -Infinity, 0});
    b->add(MemorySource::pathOf("whole"), "int32", {2}, std::vector<std::int32_t>{1, 2});
    a->addFloats("broken", {1, 2});
    b->addFloats("broken", {1, 2});
    a->finish();
    b->finish();
    a->breakTensor(MemorySource::pathOf("broken"));
    auto comparison = std::make_shared<CheckpointComparison>();
    for (const std::string name : {"both", "broken", "clean", "only_a", "whole"}) {
        TensorRow row;
        row.name = name;
        row.a = a->catalog().findTensor(name);
        row.b = b->catalog().findTensor(name);
        const TensorRef &of = row.a ? a->catalog().tensors[*row.a] : b->catalog().tensors[*row.b];
        row.dtypeA = row.dtypeB = of.dtype;
        row.shapeA = row.shapeB = of.shape;
        comparison->tensors.push_back(row);
    }
    const CpuBackend backend;
    NonFiniteSearch search(a, b, comparison);
    for (bool more = true; more;) {
        const auto advanced = search.advance(backend, {});
        QVERIFY(advanced.ok());
        more = advanced.value();
    }
    const NonFiniteFindings &findings = search.findings();
    QVERIFY(findings.complete);
    QCOMPARE(findings.looked, std::uint64_t(4)); // not the one of integers
    QCOMPARE(findings.tensors.size(), std::size_t(2));
    QCOMPARE(findings.tensors[0].name, std::string("both"));
    QCOMPARE(findings.tensors[0].nanA, Index(1));
    QCOMPARE(findings.tensors[0].nanB, Index(1));
    QCOMPARE(findings.tensors[1].name, std::string("only_a"));
    QCOMPARE(findings.tensors[1].infA, Index(2));
    QCOMPARE(findings.tensors[1].infB, Index(0));
    QCOMPARE(findings.unread.size(), std::size_t(1));
    QVERIFY(findings.unread[0].starts_with("broken: "));
}

QTEST_APPLESS_MAIN(TestTensorHistory)
#include "tst_tensor_history.moc"
