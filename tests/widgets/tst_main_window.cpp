// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"
#include "app/gui/samples.h"
#include "app/gui/session_context.h"
#include "widget_test_main.h"
#include "widgets/roles.h"
#include "widgets/views/element_view.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"

#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTreeView>

using namespace forkpoint;

namespace {

constexpr int Patience = 60'000;

const QString SampleA = QStringLiteral(FORKPOINT_SAMPLES "/A");
const QString SampleC = QStringLiteral(FORKPOINT_SAMPLES "/C");

/// The starts and ends of jobs, as the status line hears them.
struct JobLog
{
    int starts = 0, ends = 0;
    QStringList ended;

    void hear(const JobState &job)
    {
        const bool running = job.phase == JobState::Phase::Running;
        if (running && !m_running)
            ++starts;
        if (!running && job.phase != JobState::Phase::Idle) {
            ++ends;
            ended += job.title;
        }
        m_running = running;
    }

private:
    bool m_running = false;
};

/// The window as main() makes it, over a real session, with settings of its own.
struct Viewer
{
    Settings settings;
    SessionContext context{SessionEnvironment::standard(), settings, bundledSamples()};
    MainWindow window{context, settings, MainWindow::Memory::Off};
    JobLog jobs;

    Viewer()
    {
        QObject::connect(&context, &ViewContext::jobChanged, &window,
                         [this] { jobs.hear(context.job()); });
        window.resize(1280, 800);
        window.show();
    }

    template <class View>
    View *find() const
    {
        return window.findChild<View *>();
    }

    bool finished() const
    {
        return context.comparison() && context.comparison()->finished
            && context.job().phase == JobState::Phase::Finished;
    }

    std::optional<std::size_t> rowOf(const std::string &name) const
    {
        const auto comparison = context.stepComparison();
        for (std::size_t row = 0; comparison && row < comparison->tensors.size(); ++row)
            if (comparison->tensors[row].name == name)
                return row;
        return std::nullopt;
    }
};

QByteArray contentsOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QByteArray printedByCommandLine(const QStringList &words)
{
    QProcess process;
    process.start(QStringLiteral(FORKPOINT_CLI), words);
    process.waitForFinished(Patience);
    return process.readAllStandardOutput();
}

} // namespace

class TestMainWindow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void welcomesUntilBothSidesAreOpen();
    void findsWhereTheSamplesPart();
    void selectsAStepAndATensor();
    void jumpsToTheNextDifference();
    void exportsWhatTheCommandLinePrints();
    void everyJobEndsOnce();
    void cancels();
    void copiesTheWholeCommand();

private:
    QTemporaryDir m_folder;
};

void TestMainWindow::initTestCase()
{
    QVERIFY(m_folder.isValid());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
}

void TestMainWindow::welcomesUntilBothSidesAreOpen()
{
    Viewer viewer;
    QVERIFY(viewer.find<Welcome>()->isVisible());
    viewer.context.openSide(Side::A, SampleA);
    QTRY_COMPARE_WITH_TIMEOUT(viewer.context.side(Side::A).phase, SideState::Phase::Open, Patience);
    QVERIFY(viewer.find<Welcome>()->isVisible());
    viewer.context.openSide(Side::B, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(!viewer.find<Welcome>()->isVisible(), Patience);
    QVERIFY(viewer.find<VerdictBanner>()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
}

void TestMainWindow::findsWhereTheSamplesPart()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QVERIFY(viewer.context.comparison()->verdict.outcome == Outcome::Different);
    // samples.json: C sums its gradients in the other order, so they part before the first file.
    QCOMPARE(viewer.context.selectedStep(), std::optional<Step>(4));
    const QString banner = viewer.find<VerdictBanner>()->plainText();
    QVERIFY2(banner.startsWith(QStringLiteral("≠ Different: ")), qPrintable(banner));
    QCOMPARE(banner.count(QStringLiteral("roven on bytes")), 1);
    QVERIFY2(banner.contains(QStringLiteral("accumulate")), qPrintable(banner));
}

void TestMainWindow::selectsAStepAndATensor()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectStep(12);
    const auto shown = [&] {
        const auto comparison = viewer.context.stepComparison();
        return viewer.context.selectedStep() == 12 && comparison && comparison->finished;
    };
    QTRY_VERIFY_WITH_TIMEOUT(shown(), Patience);
    const auto row = viewer.rowOf("model.layers.1.fc2.weight");
    QVERIFY(row);
    viewer.context.selectTensor(*row);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.selectedStats(), Patience);
    QVERIFY(viewer.context.selectedStats()->differentElements > 0);
    auto *table = viewer.window.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QCOMPARE(table->currentIndex().data(NameRole).toString(),
             QStringLiteral("model.layers.1.fc2.weight"));
    const auto inView = [&] {
        return table->viewport()->rect().contains(
            table->visualRect(table->currentIndex()).center());
    };
    QTRY_VERIFY(inView());
}

void TestMainWindow::jumpsToTheNextDifference()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const auto row = viewer.rowOf("model.layers.0.fc2.bias"); // 2 of its 24 elements differ
    QVERIFY(row);
    viewer.context.selectTensor(*row);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.selectedStats(), Patience);
    QCOMPARE(viewer.context.selectedStats()->differentElements, std::uint64_t(2));
    auto *elements = viewer.find<ElementView>();
    elements->setOrder(ElementOrder::ByIndex);
    QSignalSpy answers(&viewer.context, &ViewContext::nextDifferenceReady);
    std::vector<std::uint64_t> places;
    for (int jump = 1; jump <= 2; ++jump) {
        elements->nextDifferenceAction()->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(answers.count(), jump, Patience);
        const auto index = answers.last().at(1).value<std::optional<Index>>();
        if (!index)
            break; // the first element is the current one at the start
        places.push_back(*index);
    }
    QVERIFY(!places.empty());
    QTRY_VERIFY_WITH_TIMEOUT(elements->rowTexts(places.back()).size() > 3, Patience);
    const QStringList cells = elements->rowTexts(places.back());
    QVERIFY2(cells[1] != cells[2], qPrintable(cells.join(u' ')));
}

void TestMainWindow::exportsWhatTheCommandLinePrints()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const QString path = m_folder.filePath(QStringLiteral("report.json"));
    viewer.context.exportReport(path);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.jobs.ended.contains(QStringLiteral("Exporting ") + path),
                             Patience);
    const QByteArray exported = contentsOf(path);
    const QByteArray printed = printedByCommandLine(
        {QStringLiteral("compare"), SampleA, SampleC, QStringLiteral("--json")});
    QVERIFY(exported.size() > 1000);
    QCOMPARE(exported.size(), printed.size());
    QVERIFY(exported == printed);
}

void TestMainWindow::everyJobEndsOnce()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QTest::qWait(500); // an end too many would come now
    const QString title = viewer.context.job().title;
    QCOMPARE(viewer.jobs.ended.count(title), 1);
    QCOMPARE(viewer.jobs.ended.removeDuplicates(), 0);
    QVERIFY(viewer.jobs.ends >= viewer.jobs.starts);
}

void TestMainWindow::cancels()
{
    Viewer viewer;
    // On a busy machine the search for a device is a job that ends on its own after the cancel.
    QTRY_VERIFY_WITH_TIMEOUT(!viewer.context.device().isEmpty(), Patience);
    viewer.context.openPair(SampleA, SampleC);
    viewer.context.cancelJob();
    QTRY_COMPARE_WITH_TIMEOUT(viewer.context.job().phase, JobState::Phase::Cancelled, Patience);
    QTest::qWait(300);
    QVERIFY(!viewer.context.comparison() || !viewer.context.comparison()->finished);
    viewer.context.openPair(SampleA, SampleC); // and nothing is left in the way
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
}

void TestMainWindow::copiesTheWholeCommand()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    CompareOptions options;
    options.pairing.renames = {RenameRule::parse("s/^a.b/c|d/").value()};
    options.pairing.include = {"model.*"};
    options.pairing.exclude = {"it's"};
    options.pairing.scope = {StateClass::Weights, StateClass::Optimizer};
    options.tolerance.rtol = 1e-5;
    options.tolerance.maxUlp = 4;
    viewer.context.setOptions(options);
    const QString expected =
        QLatin1String("forkpoint-cli compare " FORKPOINT_SAMPLES "/A " FORKPOINT_SAMPLES "/C")
        + QLatin1String(" --rename 's/^a.b/c|d/' --include 'model.*' --exclude 'it'\\''s'"
                        " --scope weights,optimizer --rtol 1e-05 --max-ulp 4");
    QCOMPARE(viewer.context.commandLine(), expected);
}

FP_WIDGET_TEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
