// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of the Hugging Face Trainer, one run logged in several ways: what meets what, and what does not.
#include "loaders/metrics/epoch_grid.h"
#include "loaders/metrics/metrics_console.h"
#include "loaders/metrics/metrics_trainer_state.h"
#include "model/metrics/metric_findings.h"
#include "tests/support/metrics_read.h"

#include <QFile>
#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

QByteArray bytesAt(const char *path)
{
    QFile file(QString(FORKPOINT_TEST_DATA) + "/metrics/trainer/" + path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

Read stateOf(const char *run)
{
    const std::string path = std::string(run) + "/trainer_state.json";
    return readWith(readTrainerState, bytesAt(path.c_str()).toStdString());
}

/// A console log without one of its lines (from 0; -1: with all), that text in place of the other.
Read logOf(const char *run, int without = -1, const char *text = "", const char *instead = "")
{
    QByteArrayList lines = bytesAt((std::string(run) + "/out.log").c_str()).split('\n');
    if (without >= 0)
        lines.removeAt(without);
    return readWith(readConsoleMetrics, lines.join('\n').replace(text, instead).toStdString());
}

const MetricComparison *find(const std::vector<MetricComparison> &all, std::string_view name)
{
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto &metric) { return metric.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<DecimalText> decimals(std::initializer_list<const char *> texts)
{
    std::vector<DecimalText> result;
    for (const char *text : texts)
        result.push_back(parseDecimal(text).value());
    return result;
}

} // namespace

class MetricsTrainerTest : public QObject
{
    Q_OBJECT

private slots:
    void aLostLineIsAHole()
    {
        const Read whole = logOf("every-1");
        for (const int lost : {0, 5, 11, 22}) {
            const Read holed = logOf("every-1", lost);
            QVERIFY(holed.says("no-steps", "by their epochs"));
            QCOMPARE(holed.says("no-steps", "1 row missing"), lost > 0);
            const auto compared = compareMetrics(whole.series, holed.series);
            const MetricComparison *loss = find(compared, "loss");
            QVERIFY(loss && !loss->firstProvenDifference);
            QCOMPARE(loss->commonSteps, std::uint64_t(23));
            QCOMPARE(loss->oneSidedSteps, std::uint64_t(lost > 0 ? 1 : 0));
            QVERIFY(outcome(whole, holed) == Outcome::Undecided);
        }
        // Row 6 is the lost one; the rest is where it was.
        const Curve curve = logOf("every-1", 5).curve("loss");
        QVERIFY(!curve.contains(6) && curve.at(7) == 1.215 && curve.at(24) == 0.9295);
        const Read other = logOf("every-1", 5, "'1.215'", "'1.216'");
        QVERIFY(outcome(whole, other) == Outcome::Different);
        QCOMPARE(*find(compareMetrics(whole.series, other.series), "loss")->firstProvenDifference,
                 std::int64_t(7));
    }

    /// Version 4 printed every digit of the norm; that two rows are one step it did not print.
    void rowsProveNoBits()
    {
        const char *a = "{'loss': 1.5, 'grad_norm': 0.12345678901234567, 'epoch': 0.5}\n"
                        "{'loss': 1.5, 'grad_norm': 0.22345678901234567, 'epoch': 1.0}\n";
        const char *b = "{'loss': 1.5, 'grad_norm': 0.12345678901234567, 'epoch': 0.5}\n"
                        "{'loss': 1.5, 'grad_norm': 0.22345678901234569, 'epoch': 1.0}\n";
        const Read one = readWith(readConsoleMetrics, a), other = readWith(readConsoleMetrics, b);
        QVERIFY(one.find("grad_norm")->bitsKnown);
        const auto compared = compareMetrics(one.series, other.series);
        QVERIFY(!find(compared, "grad_norm")->bitsKnown);
        QCOMPARE(*find(compared, "grad_norm")->firstProvenDifference, std::int64_t(2));
        const VerdictFacts facts = metricFacts(one.series, other.series, compared);
        QVERIFY(facts.differenceStrength == Strength::Printed);
    }

    /// Twelve batches in steps of five: the epoch's last step takes two, and a row may be any.
    void rowsOffTheGrid()
    {
        const Read whole = logOf("accumulated"), holed = logOf("accumulated", 2);
        QVERIFY(!whole.complete && whole.says("no-steps", "counted from 1"));
        const auto same = compareMetrics(whole.series, whole.series);
        QCOMPARE(find(same, "loss")->commonSteps, std::uint64_t(6));
        const auto compared = compareMetrics(whole.series, holed.series);
        const MetricComparison *loss = find(compared, "loss");
        QCOMPARE(loss->commonSteps, std::uint64_t(2)); // before the lost one
        QCOMPARE(loss->unmet.count, std::uint64_t(3));
        QVERIFY(!loss->firstProvenDifference);
        QVERIFY(outcome(whole, holed) == Outcome::Undecided);
        // Without epochs nothing tells.
        const Read bare = readWith(readConsoleMetrics, "{'loss': 1.5}\n{'loss': 1.25}\n");
        const Read shorter = readWith(readConsoleMetrics, "{'loss': 1.25}\n");
        QVERIFY(outcome(bare, shorter) == Outcome::Undecided);
        QVERIFY(find(compareMetrics(bare.series, shorter.series), "loss")->unmet.why
                == MetricMeeting::UnknownRows);
    }

    void unlikeIntervals()
    {
        const Read one = stateOf("every-1"), five = stateOf("every-5");
        QVERIFY(outcome(one, one) == Outcome::Identical);
        QVERIFY(outcome(one, five) == Outcome::Undecided);
        const auto compared = compareMetrics(one.series, five.series);
        for (const char *mean : {"loss", "train_loss"}) {
            const MetricComparison *metric = find(compared, mean);
            QVERIFY(metric && metric->commonSteps == 0 && !metric->firstProvenDifference);
            QVERIFY(metric->unmet.why == MetricMeeting::UnlikeWindows);
            QCOMPARE(metric->unmet.windowB, std::int64_t(5));
        }
        QCOMPARE(find(compared, "loss")->unmet,
                 (UnmetSteps{4, MetricMeeting::UnlikeWindows, 5, 1, 5}));
        for (const char *atTheStep : {"grad_norm", "learning_rate"}) {
            const MetricComparison *metric = find(compared, atTheStep);
            QVERIFY(metric && metric->bitsKnown && metric->unmet.count == 0);
            QCOMPARE(metric->commonSteps, std::uint64_t(4));
            QCOMPARE(metric->differentSteps, std::uint64_t(0));
        }
        QVERIFY(metricFindings({*find(compared, "loss")}, false)
                    .front()
                    .text.find("a mean over 1 step in A and over 5 in B")
                != std::string::npos);
    }

    /// A history that begins at step 5 and goes on step by step was shortened: its first loss is no
    /// mean over five steps.
    void historiesThatBeginLater()
    {
        const auto history = [](std::initializer_list<int> steps,
                                const std::string &settings = {}) {
            std::string text = R"({"global_step": 9, "log_history": [)";
            for (const int step : steps)
                text += (text.ends_with('[') ? "" : ",") + std::string(R"({"step": )")
                    + std::to_string(step) + R"(, "loss": 0.123456789012345678})";
            return readWith(readTrainerState, text + "]" + settings + "}");
        };
        using Windows = std::vector<std::int64_t>;
        QCOMPARE(history({1, 2, 3}).find("loss")->windows, (Windows{1, 1, 1}));
        QCOMPARE(history({5, 6, 7}).find("loss")->windows, (Windows{0, 1, 1}));
        QCOMPARE(history({5, 10, 12}).find("loss")->windows, (Windows{5, 5, 2}));
        QCOMPARE(history({1, 5, 10}).find("loss")->windows, (Windows{1, 4, 5}));
        // Of one alone nothing but the settings tells.
        QCOMPARE(history({5}).find("loss")->windows, (Windows{0}));
        QCOMPARE(history({5}, R"(, "logging_steps": 5)").find("loss")->windows, (Windows{5}));
        QCOMPARE(history({5}, R"(, "logging_steps": 1)").find("loss")->windows, (Windows{0}));
    }

    void consolesOfUnlikeIntervals()
    {
        const Read one = logOf("every-1"), five = logOf("every-5");
        QVERIFY(outcome(one, five) == Outcome::Undecided);
        QVERIFY(find(compareMetrics(one.series, five.series), "loss")->unmet.why
                == MetricMeeting::OtherRows);
        // Steps that are stated meet rows of the same epochs alone.
        QVERIFY(outcome(stateOf("every-5"), five) == Outcome::Undecided);
        const auto compared = compareMetrics(stateOf("every-1").series, one.series);
        QCOMPARE(find(compared, "loss")->commonSteps, std::uint64_t(24));
        QVERIFY(outcome(stateOf("every-1"), logOf("every-1", -1, "'1.215'", "'1.216'"))
                == Outcome::Different);
    }

    /// An evaluation at a step that was logged is no repetition of it.
    void evaluationsRepeatNothing()
    {
        for (const Read &read : {stateOf("evaluated"), logOf("evaluated"), stateOf("every-1")}) {
            QVERIFY(read.complete && !read.says("repeated-step"));
            QCOMPARE(read.curve("epoch").size(), std::size_t(24));
            for (const MetricSeries &series : read.series)
                QCOMPARE(series.passedOver, std::uint64_t(0));
        }
        const Curve evaluated = stateOf("evaluated").curve("eval_loss");
        QCOMPARE(evaluated.size(), std::size_t(5)); // the last at the end
        const Curve printed = logOf("evaluated").curve("eval_loss");
        for (const auto &[step, value] : evaluated)
            QVERIFY(printed.contains(step) && std::fabs(printed.at(step) - value) < 5e-4);
        // One that is logged again is.
        const Read again = readWith(readTrainerState,
                                    R"({"global_step": 1, "log_history": [
                                        {"step": 1, "epoch": 0.5, "loss": 2.5},
                                        {"step": 1, "epoch": 0.5, "loss": 2.25}]})");
        QVERIFY(again.says("repeated-step"));
    }

    void gridsOfEpochs()
    {
        const auto rows = [](std::initializer_list<const char *> texts) {
            const auto epochs = decimals(texts);
            const auto grid = EpochGrid::fit(epochs);
            std::vector<std::int64_t> result;
            for (std::size_t i = 0; grid && i < epochs.size(); ++i)
                result.push_back(grid->rowOf(i));
            return result;
        };
        using Rows = std::vector<std::int64_t>;
        QCOMPARE(rows({"0.08", "0.17", "0.25", "0.33"}), (Rows{1, 2, 3, 4}));
        QCOMPARE(rows({"0.42", "0.5", "0.58", "0.67"}), (Rows{5, 6, 7, 8}));
        QCOMPARE(rows({"0.08", "0.17", "0.33", "0.42", "0.5"}), (Rows{1, 2, 4, 5, 6}));
        QCOMPARE(rows({"0.25", "0.5", "1.25", "1.5", "1.75"}), (Rows{1, 2, 5, 6, 7}));
        QCOMPARE(rows({"0.4167", "0.8333", "1", "1.417"}), Rows());
        QCOMPARE(rows({"0.0", "0.0", "0.01", "0.01"}), Rows());
        // Too late a row to be told from its neighbour.
        QCOMPARE(rows({"100.1", "100.2", "100.3"}), Rows());
        QCOMPARE(rows({"1.0", "0.5"}), Rows());
        QCOMPARE(rows({"nan", "nan", "inf"}), Rows());
        QCOMPARE(rows({"1e-300", "1e300", "1.1e300"}), Rows());
        QCOMPARE(rows({"0.5"}), Rows());
    }
};

QTEST_APPLESS_MAIN(MetricsTrainerTest)
#include "tst_metrics_trainer.moc"
