// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"
#include "app/gui/samples.h"
#include "app/gui/session_context.h"
#include "widget_test_main.h"
#include "widgets/roles.h"
#include "widgets/views/element_view.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTreeView>
#include <QtEndian>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

using namespace forkpoint;

namespace {

constexpr int Patience = 60'000;

const QString SampleA = QStringLiteral(FORKPOINT_SAMPLES "/A");
const QString SampleC = QStringLiteral(FORKPOINT_SAMPLES "/C");
const QString SampleD = QStringLiteral(FORKPOINT_SAMPLES "/D");

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
    SessionContext context;
    MainWindow window{context, settings, Memory::Off};
    JobLog jobs;

    explicit Viewer(SessionEnvironment environment = SessionEnvironment::standard())
        : context(std::move(environment), settings, bundledSamples(), Memory::Off)
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
    void goesBackAndForward();
    void showsEveryPart();
    void reloadsWhenFilesChange();
    void remembersNotesOfAPair();
    void staysAliveOverASourceThatStalls();
    void survivesHostileNames();

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

    // Every other format too: the command that the window names writes the same bytes.
    for (const char *suffix : {"html", "md", "csv"}) {
        const QString ours = m_folder.filePath(QLatin1String("window.") + QLatin1String(suffix));
        const QString theirs = m_folder.filePath(QLatin1String("cli.") + QLatin1String(suffix));
        viewer.context.exportReport(ours);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.jobs.ended.contains(QStringLiteral("Exporting ") + ours),
                                 Patience);
        QVERIFY(
            viewer.context.reportCommand(theirs).endsWith(QStringLiteral(" --report ") + theirs));
        printedByCommandLine({QStringLiteral("compare"), SampleA, SampleC,
                              QStringLiteral("--quiet"), QStringLiteral("--report"), theirs});
        QVERIFY2(contentsOf(ours).size() > 1000, suffix);
        QVERIFY2(contentsOf(ours).replace("window.csv", "cli.csv") == contentsOf(theirs), suffix);
    }
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
    // Opening that lasts until it is cancelled: the bundled runs open too fast to be caught at it.
    std::atomic<bool> slow = true;
    SessionEnvironment environment = SessionEnvironment::standard();
    environment.openRun = [&slow, open = environment.openRun](const std::string &path,
                                                              std::stop_token stop) {
        while (slow && !stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return open(path, stop);
    };
    Viewer viewer(std::move(environment));
    viewer.context.openPair(SampleA, SampleC);
    QTRY_COMPARE_WITH_TIMEOUT(viewer.context.job().phase, JobState::Phase::Running, Patience);
    viewer.context.cancelJob();
    QTRY_COMPARE_WITH_TIMEOUT(viewer.context.job().phase, JobState::Phase::Cancelled, Patience);
    QTest::qWait(300);
    QVERIFY(!viewer.context.comparison());
    slow = false;
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

void TestMainWindow::goesBackAndForward()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const auto at = [&](Step step, const std::string &name) {
        const auto comparison = viewer.context.stepComparison();
        const auto row = viewer.context.selectedTensor();
        return viewer.context.selectedStep() == step && comparison && row
            && comparison->tensors[*row].name == name;
    };
    const auto action = [&](const QString &text) -> QAction * {
        for (QAction *each : viewer.window.findChildren<QAction *>())
            if (each->text() == text)
                return each;
        return nullptr;
    };
    QAction *back = action(QStringLiteral("&Back")), *forward = action(QStringLiteral("&Forward"));
    QVERIFY(back && forward);
    QTest::qWait(50);
    viewer.context.selectTensor(*viewer.rowOf("model.norm.bias"));
    QTest::qWait(50); // a place is where one stays for a moment
    QVERIFY(back->isEnabled());
    viewer.context.selectStep(12);
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.norm.bias"), Patience);
    QTest::qWait(50);
    viewer.context.selectTensor(*viewer.rowOf("model.layers.0.qkv.bias"));
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.layers.0.qkv.bias"), Patience);
    QTest::qWait(50);
    back->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.norm.bias"), Patience);
    back->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(at(4, "model.norm.bias"), Patience);
    QVERIFY(forward->isEnabled());
    forward->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.norm.bias"), Patience);
}

void TestMainWindow::showsEveryPart()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleD);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QSignalSpy maps(&viewer.context, &ViewContext::mapReady);
    QSignalSpy histories(&viewer.context, &ViewContext::historyReady);
    QSignalSpy searches(&viewer.context, &ViewContext::nonFiniteReady);
    for (const char *part : {"values", "modules", "recipe", "pairing", "tensors", "differing",
                             "where", "steps", "facts", "findings", "problems", "nonfinite"})
        QVERIFY2(viewer.window.showPart(QLatin1String(part)), part);
    QVERIFY(!viewer.window.showPart(QStringLiteral("no such part")));
    viewer.window.showPart(QStringLiteral("where"));
    QTRY_VERIFY_WITH_TIMEOUT(maps.count() > 0, Patience);
    const auto map = maps.last()[1].value<std::shared_ptr<const ElementMap>>();
    QVERIFY(map->complete);
    viewer.window.showPart(QStringLiteral("steps"));
    QTRY_VERIFY_WITH_TIMEOUT(histories.count() > 0, Patience);
    const auto history = [&] {
        return histories.last()[1].value<std::shared_ptr<const TensorHistory>>();
    };
    QTRY_VERIFY_WITH_TIMEOUT(history()->complete, Patience);
    QCOMPARE(history()->points.size(), std::size_t(3)); // steps 4, 8 and 12
    const auto searched = [&] {
        return searches.last()[1].value<std::shared_ptr<const NonFiniteFindings>>();
    };
    QTRY_VERIFY_WITH_TIMEOUT(searches.count() > 0 && searched()->complete, Patience);
    QVERIFY(searched()->tensors.empty()); // samples are finite: numpy.isfinite over all of them
}

void TestMainWindow::reloadsWhenFilesChange()
{
    QTemporaryDir folder;
    const QString a = folder.filePath(QStringLiteral("a.pt"));
    const QString b = folder.filePath(QStringLiteral("b.pt"));
    QVERIFY(QFile::copy(SampleA + QStringLiteral("/step_000004.pt"), a));
    QVERIFY(QFile::copy(SampleA + QStringLiteral("/step_000004.pt"), b));
    Viewer viewer;
    viewer.context.openPair(a, b);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QVERIFY(viewer.context.comparison()->verdict.outcome == Outcome::Identical);
    QVERIFY(viewer.context.changedFiles().isEmpty());
    const QByteArray other = contentsOf(SampleC + QStringLiteral("/step_000004.pt"));
    QFile file(b);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate)); // as torch.save writes
    QCOMPARE(file.write(other), other.size());
    file.close();
    viewer.context.checkFiles();
    QTRY_VERIFY_WITH_TIMEOUT(!viewer.context.changedFiles().isEmpty(), Patience);
    const QString banner = viewer.find<VerdictBanner>()->plainText();
    QVERIFY2(banner.contains(QStringLiteral("Files changed since they were read")),
             qPrintable(banner));
    viewer.context.reload();
    const auto different = [&] {
        return viewer.finished()
            && viewer.context.comparison()->verdict.outcome == Outcome::Different;
    };
    QTRY_VERIFY_WITH_TIMEOUT(different(), Patience);
    QVERIFY(viewer.context.changedFiles().isEmpty());
}

void TestMainWindow::remembersNotesOfAPair()
{
    Settings settings;
    settings.clearRecentPairs();
    {
        SessionContext context(SessionEnvironment::standard(), settings, {}, Memory::On);
        context.openPair(SampleA, SampleC);
        QTRY_VERIFY_WITH_TIMEOUT(context.comparison() && context.comparison()->finished, Patience);
        context.notes().setPinned("model.norm.bias", true);
        context.notes().setExpected("odd \xff name", true);
    }
    QCOMPARE(settings.recentPairs().size(), 1);
    SessionContext again(SessionEnvironment::standard(), settings, {}, Memory::Off);
    again.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(again.notes().isPinned("model.norm.bias"), Patience);
    QVERIFY(again.notes().isExpected("odd \xff name"));
    again.openPair(SampleA, SampleD);
    QTRY_VERIFY_WITH_TIMEOUT(!again.notes().isPinned("model.norm.bias"), Patience); // another pair
    QCOMPARE(settings.recentPairs().size(), 1); // pictures leave no traces
}

void TestMainWindow::staysAliveOverASourceThatStalls()
{
    // As in a mount that does not answer: opening blocks until the test lets it go.
    const auto gate = std::make_shared<std::promise<void>>();
    SessionEnvironment environment = SessionEnvironment::standard();
    environment.openRun = [opened = std::shared_future<void>(gate->get_future())](
                              const std::string &path,
                              std::stop_token) -> Result<std::shared_ptr<const Run>> {
        opened.wait();
        return Error{ErrorCode::Io, path, {}, "a test ended the stall"};
    };
    Settings settings;
    SessionContext context(std::move(environment), settings, {}, Memory::Off);
    MainWindow window(context, settings, Memory::Off);
    window.show();
    context.openPair(QStringLiteral("/dead/A"), QStringLiteral("/dead/B"));
    QTRY_COMPARE_WITH_TIMEOUT(context.side(Side::A).phase, SideState::Phase::Opening, Patience);
    QElapsedTimer longest;
    double worst = 0;
    for (int i = 0; i < 100; ++i) { // the window goes on painting and answering keys
        longest.start();
        QTest::keyClick(&window, i % 2 ? Qt::Key_F8 : Qt::Key_F7);
        window.grab();
        QCoreApplication::processEvents();
        worst = std::max(worst, double(longest.nsecsElapsed()) / 1e6);
    }
    qInfo("the slowest of 100 rounds of keys and painting over a stalled source: %.1f ms", worst);
    QElapsedTimer timer;
    timer.start();
    context.cancelJob();
    QTRY_COMPARE_WITH_TIMEOUT(context.side(Side::A).phase, SideState::Phase::Failed, Patience);
    qInfo("a cancel took %lld ms", static_cast<long long>(timer.elapsed()));
    context.openPair(QStringLiteral("/dead/A"), QStringLiteral("/dead/B")); // stalls again
    QTRY_COMPARE_WITH_TIMEOUT(context.side(Side::A).phase, SideState::Phase::Opening, Patience);
    timer.start();
    QVERIFY(!context.shutdown(std::chrono::milliseconds(1500))); // which leaves by _exit
    qInfo("quitting took %lld ms", static_cast<long long>(timer.elapsed()));
    QVERIFY(timer.elapsed() < 2000 + 1000); // and a second for a busy machine
    gate->set_value();
}

void TestMainWindow::survivesHostileNames()
{
    // A safetensors file by its own definition: length, header, bytes.
    const QString nasty = QString(4096, u'n') + QStringLiteral(".w");
    const QStringList names{nasty,
                            QStringLiteral("<img src=x onerror=alert(1)>"),
                            QStringLiteral("\u202egnp.exe"),
                            QStringLiteral("a\tb"),
                            QStringLiteral("..%1").arg(QString(300, u'.')),
                            QStringLiteral("\u05d0\u05d1\u05d2.weight")};
    const auto write = [&](const QString &path, float first) {
        QJsonObject header;
        for (qsizetype i = 0; i < names.size(); ++i)
            header.insert(
                names[i],
                QJsonObject{{QStringLiteral("dtype"), QStringLiteral("F32")},
                            {QStringLiteral("shape"), QJsonArray{1}},
                            {QStringLiteral("data_offsets"), QJsonArray{i * 4, i * 4 + 4}}});
        const QByteArray text = QJsonDocument(header).toJson(QJsonDocument::Compact);
        QByteArray bytes(8, '\0');
        qToLittleEndian(quint64(text.size()), bytes.data());
        bytes += text;
        for (qsizetype i = 0; i < names.size(); ++i) {
            const float value = first + float(i);
            bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
        }
        QFile file(path);
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
    };
    const QString a = m_folder.filePath(QStringLiteral("a.safetensors"));
    const QString b = m_folder.filePath(QStringLiteral("b.safetensors"));
    QVERIFY(write(a, 1.0F) && write(b, 2.0F));
    Viewer viewer;
    viewer.context.openPair(a, b);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const auto comparison = viewer.context.stepComparison();
    QCOMPARE(comparison->tensors.size(), std::size_t(names.size()));
    for (std::size_t row = 0; row < comparison->tensors.size(); ++row) {
        viewer.context.selectTensor(row);
        for (const char *part : {"elements", "where", "steps", "facts"}) {
            viewer.window.showPart(QLatin1String(part));
            viewer.window.grab();
        }
    }
    viewer.window.showPart(QStringLiteral("modules"));
    viewer.window.grab();
    QCOMPARE(viewer.window.size(), QSize(1280, 800)); // no name stretches the window
    const QString banner = viewer.find<VerdictBanner>()->plainText();
    QVERIFY(!banner.contains(QChar(0x202e)));
}

FP_WIDGET_TEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
