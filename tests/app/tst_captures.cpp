// SPDX-License-Identifier: GPL-3.0-or-later
// The bundled captures lead to the record where each run parts from A, and to its elements. What is
// expected is printed by tests/data/cli/capture_facts.py, which shares no code with us.
#include "app/core/digest_check.h"
#include "gpu/cpu_backend.h"
#include "loaders/hdf5/hdf5_client.h"
#include "loaders/open_run.h"
#include "model/compare/run_comparer.h"
#include "model/executor.h"

#include <QTest>

using namespace forkpoint;

namespace {

RunComparison compared(const QString &other)
{
    const std::filesystem::path captures = std::filesystem::path(FORKPOINT_SAMPLES) / "captures";
    static const CpuBackend backend;
    static SerialExecutor executor;
    RunComparer comparer(openRun(captures / "A", {}, {}).value(),
                         openRun(captures / other.toStdString(), {}, {}).value(), {}, {}, backend,
                         executor);
    while (comparer.advance({}))
        ;
    return comparer.snapshot();
}

} // namespace

class TestCaptures : public QObject
{
    Q_OBJECT

private slots:
    void leadToTheElements_data()
    {
        QTest::addColumn<QString>("other");
        QTest::addColumn<int>("step");
        QTest::addColumn<int>("microBatch");
        QTest::addColumn<QString>("stage");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("tensor");
        QTest::addColumn<int>("differing");
        QTest::newRow("C") << "C" << 1 << -1 << "grad"
                           << "embed_tokens.weight"
                           << "grad.embed_tokens.weight" << 143;
        QTest::newRow("D") << "D" << 5 << -1 << "rng"
                           << "torch.cpu"
                           << "rng.torch.cpu" << 2484;
        QTest::newRow("F") << "F" << 7 << 0 << "batch"
                           << "input"
                           << "batch.micro_batch_0.input.0" << 60;
    }
    /// What a trace kept of another stage is no tensor of a record, however both are called.
    void theirDigestsAreThoseOfTheirTensors_data()
    {
        QTest::addColumn<QString>("run");
        for (const char *run : {"A", "C", "D", "F"})
            QTest::newRow(run) << run;
    }
    void theirDigestsAreThoseOfTheirTensors()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
        QFETCH(QString, run);
        const std::filesystem::path captures =
            std::filesystem::path(FORKPOINT_SAMPLES) / "captures";
        const auto opened = openRun(captures / run.toStdString(), {}, {}).value();
        for (Step step = 1; step <= 8; ++step) {
            const auto check = checkDigests(*opened, step, std::uint64_t(1) << 30, {});
            QCOMPARE(check ? check->mismatched : std::vector<std::string>(),
                     std::vector<std::string>());
        }
    }
    void leadToTheElements()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
        QFETCH(QString, other);
        QFETCH(int, step);
        QFETCH(int, microBatch);
        QFETCH(QString, stage);
        QFETCH(QString, name);
        QFETCH(QString, tensor);
        QFETCH(int, differing);
        const RunComparison result = compared(other);
        QVERIFY(result.verdict.outcome == Outcome::Different);
        QVERIFY(result.firstDivergence);
        QCOMPARE(result.firstDivergence->step, std::optional<Step>(step));
        QCOMPARE(int(result.firstDivergence->microBatch.value_or(-1)), microBatch);
        QCOMPARE(QString::fromStdString(result.firstDivergence->stage), stage);
        QCOMPARE(QString::fromStdString(result.firstDivergence->name), name);
        QCOMPARE(result.shownStep, std::optional<Step>(step));
        const auto row =
            std::find_if(result.shown.tensors.begin(), result.shown.tensors.end(),
                         [&](const TensorRow &each) { return each.name == tensor.toStdString(); });
        QVERIFY(row != result.shown.tensors.end());
        QVERIFY(row->status == ItemStatus::Different);
        QCOMPARE(int(row->stats->differentElements), differing);
        // D begins with step 5, where it was resumed.
        QCOMPARE(result.verdict.coverage.stepsOneSided, std::uint64_t(other == u"D" ? 4 : 0));
        // Both sides kept the same records.
        for (const TensorRow &each : result.shown.tensors)
            QVERIFY2(each.a && each.b, each.name.c_str());
    }
};

QTEST_GUILESS_MAIN(TestCaptures)
#include "tst_captures.moc"
