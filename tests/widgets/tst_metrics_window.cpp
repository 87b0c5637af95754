// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of nothing but logged numbers in the window, and what is selected without the user's doing.
#include "tests/widgets/viewer_fixture.h"
#include "tests/widgets/widget_test_main.h"

#include "widgets/models/metric_step_model.h"
#include "widgets/views/metric_detail.h"
#include "widgets/views/metrics_page.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QFileInfo>
#include <QLabel>
#include <QTemporaryDir>
#include <QTreeView>

using namespace forkpoint;

namespace {

QString writeFile(const QTemporaryDir &folder, const QString &name, const QByteArray &bytes)
{
    const QString path = folder.filePath(name);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %s", qPrintable(path));
    return path;
}

QString cell(const QTreeView *view, int row, int column)
{
    return view->model()->index(row, column).data().toString();
}

} // namespace

class TestMetricsWindow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void metricsAloneAreListed();
    void aReportShowsItsMetricsAgain();
    void aLinkSelectsTheMetric();
    void roundedNumbersAreNotCalledEqual();
    void wholeNumbersKeepTheirDigits();
    void stepsOfOneSideLeaveItOpen();
    void oneSideAloneListsItsMetrics();
    void theStartSelectsWhatTheBannerNames();
    void anotherStepSelectsSomething();
};

void TestMetricsWindow::initTestCase()
{
    QVERIFY(qEnvironmentVariable("QT_QPA_PLATFORM") == QLatin1String("offscreen"));
}

// The numbers are those of the lines of the two files at step 5.
void TestMetricsWindow::metricsAloneAreListed()
{
    Viewer viewer;
    auto *list = viewer.find<TensorList>();
    const QTreeView *table = list->metrics()->view();
    QAbstractItemModelTester tester(table->model());
    QAbstractItemModelTester steps(viewer.find<MetricDetail>()->model());
    viewer.context.openPair(SampleA + QStringLiteral("/metrics.jsonl"),
                            SampleC + QStringLiteral("/metrics.jsonl"));
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QVERIFY(list->page() == TensorList::Page::Metrics);
    QCOMPARE(table->model()->rowCount(), 4);
    const QStringList expected{QStringLiteral("≠"),
                               QStringLiteral("grad_norm"),
                               QStringLiteral("12"),
                               QStringLiteral("3"),
                               QStringLiteral("5"),
                               QStringLiteral("0.6604591012001038"),
                               QStringLiteral("0.6604591608047485"),
                               QStringLiteral("every bit")};
    for (int column = 0; column < expected.size(); ++column)
        QCOMPARE(cell(table, 0, column), expected[column]);
    QCOMPARE(cell(table, 3, 1), QStringLiteral("tokens"));
    QCOMPARE(cell(table, 3, 0), QStringLiteral("="));
    QCOMPARE(table->currentIndex().row(), 0);
    QVERIFY(viewer.find<StepStrip>()->metricSummary().startsWith(
        QStringLiteral("first differs at step 5")));
    QCOMPARE(viewer.find<MetricDetail>()->model()->rowCount(), 12);
    const QString banner = viewer.find<VerdictBanner>()->plainText();
    QVERIFY2(banner.contains(QStringLiteral("4 of 4 metrics compared")), qPrintable(banner));
    QVERIFY2(!banner.contains(QStringLiteral("0 of 0")), qPrintable(banner));
}

// What the window shows of the two logs it shows of their report, where the logs are gone.
void TestMetricsWindow::aReportShowsItsMetricsAgain()
{
    QTemporaryDir folder;
    const QString report = folder.filePath(QStringLiteral("fork.json"));
    {
        const auto lines = [](double shift) {
            QByteArray text;
            for (int step = 1; step <= 3000; ++step)
                text += "{\"step\": " + QByteArray::number(step) + ", \"loss\": "
                    + QByteArray::number(step < 2000 ? 3000 - step : 3000 - step + shift) + "}\n";
            return text;
        };
        Viewer viewer;
        viewer.context.openPair(writeFile(folder, QStringLiteral("a.jsonl"), lines(0)),
                                writeFile(folder, QStringLiteral("b.jsonl"), lines(0.5)));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
        viewer.context.exportReport(report);
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(report), Patience);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.jobs.ended.contains(QStringLiteral("Exporting ") + report),
                                 Patience);
    }
    for (const char *gone : {"a.jsonl", "b.jsonl"})
        QVERIFY(QFile::remove(folder.filePath(QLatin1String(gone))));
    Viewer viewer;
    viewer.context.openSide(Side::A, report);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const QTreeView *table = viewer.find<TensorList>()->metrics()->view();
    QCOMPARE(cell(table, 0, 4), QStringLiteral("2000"));
    QCOMPARE(cell(table, 0, 5), QStringLiteral("1000"));
    QCOMPARE(cell(table, 0, 6), QStringLiteral("1000.5"));
    MetricDetail *detail = viewer.find<MetricDetail>();
    const MetricStepModel *steps = detail->model();
    QVERIFY(steps->rowCount() > 100 && steps->rowCount() < 1024);
    const auto before = steps->rowOf(1999);
    QVERIFY(before.has_value());
    QCOMPARE(steps->index(*before, 0).data().toString(), QStringLiteral("="));
    QCOMPARE(steps->index(*before + 1, 4).data().toString(), QStringLiteral("0.5"));
    // Both sides keep the same steps, and the page says that there were more.
    for (int row = 0; row < steps->rowCount(); ++row)
        QVERIFY(steps->index(row, 2).data() != QVariant(QStringLiteral("–"))
                && steps->index(row, 3).data() != QVariant(QStringLiteral("–")));
    bool isSaid = false;
    for (const QLabel *label : detail->findChildren<QLabel *>())
        isSaid |= label->text().contains(QStringLiteral("of 3,000: those around"));
    QVERIFY(isSaid);
}

void TestMetricsWindow::aLinkSelectsTheMetric()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleD);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    auto *list = viewer.find<TensorList>();
    QVERIFY(list->page() == TensorList::Page::Tensors);
    Q_EMIT viewer.find<VerdictBanner>()->metricRequested(QStringLiteral("grad_norm"));
    QVERIFY(list->page() == TensorList::Page::Metrics);
    QVERIFY(list->metrics()->selected());
    QCOMPARE(list->metrics()->selected()->name, std::string("grad_norm"));
    const auto *steps = viewer.window.findChild<QTreeView *>(QStringLiteral("metricSteps"));
    QVERIFY(steps->isVisible());
    QCOMPARE(cell(steps, steps->currentIndex().row(), 1), QStringLiteral("5"));
}

// 2.31 and 2.31 may stand for unlike numbers, 2.31 and 2.32 cannot stand for one.
void TestMetricsWindow::roundedNumbersAreNotCalledEqual()
{
    QTemporaryDir folder;
    const QString a = writeFile(folder, QStringLiteral("a.csv"),
                                "step,loss,scale\n1,2.50,1.5\n2,2.31,1.5\n3,2.10,1.5\n");
    const QString b = writeFile(folder, QStringLiteral("b.csv"),
                                "step,loss,scale\n1,2.50,1.5\n2,2.32,1.5\n4,2.10,1.5\n");
    Viewer viewer;
    viewer.context.openPair(a, b);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const QTreeView *table = viewer.find<TensorList>()->metrics()->view();
    QCOMPARE(cell(table, 0, 1), QStringLiteral("loss"));
    QCOMPARE(cell(table, 0, 5), QStringLiteral("2.31"));
    QCOMPARE(cell(table, 0, 6), QStringLiteral("2.32"));
    QCOMPARE(cell(table, 0, 7), QStringLiteral("as printed"));
    QCOMPARE(cell(table, 1, 0), QStringLiteral("?"));
    const auto *steps = viewer.window.findChild<QTreeView *>(QStringLiteral("metricSteps"));
    const char *signs[] = {"?", "≠", "◐", "◑"};
    QCOMPARE(steps->model()->rowCount(), 4);
    const char *differences[] = {"–", "0.01", "–", "–"};
    for (int row = 0; row < 4; ++row) {
        QCOMPARE(cell(steps, row, 0), QString::fromUtf8(signs[row]));
        QCOMPARE(cell(steps, row, 4), QString::fromUtf8(differences[row]));
    }
}

// Neither number is one of float64, whose neighbours lie 2048 apart there.
void TestMetricsWindow::wholeNumbersKeepTheirDigits()
{
    QTemporaryDir folder;
    const QString a = writeFile(folder, QStringLiteral("a.csv"),
                                "step,tokens\n1,7\n2,18446744073709551615\n3,8\n");
    const QString b =
        writeFile(folder, QStringLiteral("b.csv"), "step,tokens\n1,7\n2,18446744073709551614\n");
    Viewer viewer;
    viewer.context.openPair(a, b);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const auto *steps = viewer.window.findChild<QTreeView *>(QStringLiteral("metricSteps"));
    QCOMPARE(cell(steps, 0, 4), QStringLiteral("0"));
    QCOMPARE(cell(steps, 1, 2), QStringLiteral("18446744073709551615"));
    QCOMPARE(cell(steps, 1, 4), QStringLiteral("-1"));
}

// A hole in one series is not seen to be equal; a series that ends earlier is, as far as it goes.
void TestMetricsWindow::stepsOfOneSideLeaveItOpen()
{
    QTemporaryDir folder;
    const QString a = writeFile(folder, QStringLiteral("a.csv"), "step,tokens\n1,7\n2,8\n3,9\n");
    const QString b = writeFile(folder, QStringLiteral("b.csv"), "step,tokens\n1,7\n3,9\n");
    Viewer viewer;
    viewer.context.openPair(a, b);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QCOMPARE(cell(viewer.find<TensorList>()->metrics()->view(), 0, 0), QStringLiteral("?"));
}

void TestMetricsWindow::oneSideAloneListsItsMetrics()
{
    Viewer viewer;
    viewer.context.openSide(Side::A, SampleA + QStringLiteral("/metrics.jsonl"));
    auto *list = viewer.find<TensorList>();
    QTRY_VERIFY_WITH_TIMEOUT(list->page() == TensorList::Page::Metrics, Patience);
    QCOMPARE(list->metrics()->view()->model()->rowCount(), 4);
    QCOMPARE(cell(list->metrics()->view(), 0, 0), QStringLiteral("?"));
    QTRY_VERIFY(viewer.find<VerdictBanner>()->plainText().contains(
        QStringLiteral("4 metrics are listed below.")));
}

// "rng.torch (rng) is the first item that differs, at step 8"
void TestMetricsWindow::theStartSelectsWhatTheBannerNames()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleD);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QTRY_VERIFY(viewer.context.selectedTensor().has_value());
    QCOMPARE(viewer.context.selectedTensor(), viewer.rowOf("rng.torch"));
}

void TestMetricsWindow::anotherStepSelectsSomething()
{
    Viewer viewer;
    const QString captures = QStringLiteral(FORKPOINT_SAMPLES "/captures/");
    viewer.context.openPair(captures + u'A', captures + u'C');
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.find<TensorList>()->showPage(TensorList::Page::Tensors);
    const auto selectedAt = [&](std::optional<Step> step) {
        return viewer.context.selectedStep() == step && viewer.context.stepComparison()
            && viewer.context.stepComparison()->finished && viewer.context.selectedTensor();
    };
    const auto start = viewer.context.selectedStep();
    QTRY_VERIFY(selectedAt(start));
    auto *strip = viewer.find<StepStrip>();
    strip->nextDifferenceAction()->trigger();
    QTRY_VERIFY(viewer.context.selectedStep() != start);
    QTRY_VERIFY_WITH_TIMEOUT(selectedAt(viewer.context.selectedStep()), Patience);
    strip->previousDifferenceAction()->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(selectedAt(start), Patience);
}

FP_WIDGET_TEST_MAIN(TestMetricsWindow)
#include "tst_metrics_window.moc"
