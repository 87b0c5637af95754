// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"
#include "app/gui/samples.h"
#include "app/gui/session_context.h"
#include "loaders/hdf5/hdf5_client.h"
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/roles.h"
#include "widgets/views/element_view.h"
#include "widgets/views/path_button.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
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
#include <cstdio>
#include <future>
#include <thread>

using namespace forkpoint;

namespace {

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
    void firstSampleLeadsToAnElement();
    void selectsAStepAndATensor();
    void jumpsToTheNextDifference();
    void exportsWhatTheCommandLinePrints();
    void theCommandItNamesWritesTheSameBytes();
    void printsToAFile();
    void opensAReport();
    void comparesElementsOfUnlikeTypes();
    void listsFolders();
    void everyJobEndsOnce();
    void cancels();
    void copiesTheWholeCommand();
    void showsEveryPart();
    void cutsNothingOffAtAnyFont();
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
    // Alone, it shows what it holds, and that nothing is compared.
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.stepComparison(), Patience);
    QVERIFY(!viewer.find<Welcome>()->isVisible());
    QVERIFY(!viewer.context.comparison());
    const auto listing = viewer.context.stepComparison();
    QCOMPARE(listing->tensors.size(), std::size_t(118)); // as safe_open lists step 12 of A
    QVERIFY(std::all_of(listing->tensors.begin(), listing->tensors.end(), [](const TensorRow &row) {
        return row.status == ItemStatus::NotCompared && row.a && !row.b;
    }));
    const QString banner = viewer.find<VerdictBanner>()->plainText();
    QVERIFY2(banner.contains(QStringLiteral("Only A is open")), qPrintable(banner));
    // The keyboard begins in the list, on the row that is shown.
    auto *table = viewer.window.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QTRY_COMPARE(viewer.window.focusWidget(), table);
    QVERIFY(table->selectionModel()->isSelected(table->currentIndex()));
    viewer.context.selectStep(4);
    QTRY_COMPARE_WITH_TIMEOUT(viewer.context.selectedStep(), std::optional<Step>(4), Patience);
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

/// What a newcomer sees first: a timeline that leads to step, stage, tensor and element.
void TestMainWindow::firstSampleLeadsToAnElement()
{
    if (const std::string why = whyNoHdf5(); !why.empty())
        QSKIP(why.c_str());
    const SamplePair first = bundledSamples().constFirst();
    Viewer viewer;
    viewer.context.openPair(first.pathA, first.pathB);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QCOMPARE(viewer.context.selectedStep(), std::optional<Step>(1));
    const QString banner = viewer.find<VerdictBanner>()->plainText();
    QVERIFY2(banner.contains(QStringLiteral("embed_tokens.weight (grad) differs first")),
             qPrintable(banner));
    const auto row = viewer.rowOf("grad.embed_tokens.weight");
    QVERIFY(row);
    viewer.context.selectTensor(*row);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.selectedStats(), Patience);
    QCOMPARE(int(viewer.context.selectedStats()->differentElements), 143); // capture_facts.py
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

void TestMainWindow::theCommandItNamesWritesTheSameBytes()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    CompareOptions options;
    options.pairing.include = {"model.*", "it's *"};
    options.pairing.exclude = {"*.bias"};
    options.pairing.scope = {StateClass::Weights};
    options.tolerance.atol = 1e-12;
    options.full = true;
    const auto before = viewer.context.comparison();
    viewer.context.setOptions(options);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished() && viewer.context.comparison() != before, Patience);
    viewer.context.selectStep(8); // another step is looked at; the report is of the runs
    const QString ours = m_folder.filePath(QStringLiteral("ours.json"));
    const QString theirs = m_folder.filePath(QStringLiteral("their's.json"));
    viewer.context.exportReport(ours);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.jobs.ended.contains(QStringLiteral("Exporting ") + ours),
                             Patience);
    QString command = viewer.context.reportCommand(theirs);
    QVERIFY(command.startsWith(QStringLiteral("forkpoint-cli ")));
    command.replace(0, 13, QStringLiteral(FORKPOINT_CLI));
    QProcess shell;
    shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), command});
    QVERIFY(shell.waitForFinished(Patience));
    QVERIFY(contentsOf(ours).size() > 1000);
    QVERIFY(contentsOf(ours) == contentsOf(theirs));
}

void TestMainWindow::printsToAFile()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const QString path = m_folder.filePath(QStringLiteral("report.pdf"));
    viewer.window.exportReport(path);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.jobs.ended.contains(QStringLiteral("Saving ") + path),
                             Patience);
    const QByteArray pdf = contentsOf(path);
    QVERIFY(pdf.startsWith("%PDF-"));
    QVERIFY(pdf.trimmed().endsWith("%%EOF"));
}

void TestMainWindow::opensAReport()
{
    const QString json = m_folder.filePath(QStringLiteral("fork.json"));
    printedByCommandLine({QStringLiteral("compare"), SampleA, SampleC, QStringLiteral("--quiet"),
                          QStringLiteral("--report"), json});
    Viewer viewer;
    viewer.context.openSide(Side::A, json);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QVERIFY(viewer.context.isReport());
    QCOMPARE(viewer.context.side(Side::B).phase, SideState::Phase::Recorded);
    QCOMPARE(viewer.context.side(Side::B).path, SampleC);
    QCOMPARE(viewer.context.selectedStep(), std::optional<Step>(4));
    const QString banner = viewer.find<VerdictBanner>()->plainText();
    QVERIFY2(banner.startsWith(QStringLiteral("≠ Different: ")), qPrintable(banner));
    QVERIFY2(banner.contains(QStringLiteral("Read from the report")), qPrintable(banner));
    QVERIFY(viewer.context.commandLine().startsWith(QStringLiteral("forkpoint-cli compare ")));

    // Elements, other steps and another comparison are refused, in words.
    QSignalSpy failures(&viewer.context, &ViewContext::requestFailed);
    viewer.context.requestElements({viewer.context.nextRequestId(), 0, {}});
    QTRY_VERIFY_WITH_TIMEOUT(failures.count() > 0, Patience);
    QVERIFY(failures.last()[1].toString().contains(QStringLiteral("a report keeps no elements")));
    viewer.context.selectStep(12);
    QTRY_COMPARE_WITH_TIMEOUT(viewer.context.selectedStep(), std::optional<Step>(12), Patience);
    QVERIFY(viewer.context.stepComparison()->verdict.outcome == Outcome::NotCompared);
    viewer.context.selectStep(4);
    QTRY_COMPARE_WITH_TIMEOUT(viewer.context.selectedStep(), std::optional<Step>(4), Patience);
    QCOMPARE(viewer.context.stepComparison()->tensors.size(), std::size_t(118));

    // Exported again it is the same document, and the page that compare writes of the runs.
    const QString again = m_folder.filePath(QStringLiteral("again.json"));
    viewer.context.exportReport(again);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.jobs.ended.contains(QStringLiteral("Exporting ") + again),
                             Patience);
    QVERIFY(contentsOf(again) == contentsOf(json));
    QVERIFY(contentsOf(json).size() > 1000);

    viewer.context.reload();
    QTRY_COMPARE_WITH_TIMEOUT(viewer.jobs.ended.count(QStringLiteral("Opening ") + json), 2,
                              Patience);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.isReport() && viewer.context.comparison(), Patience);
    viewer.context.openPair(SampleA, SampleC); // and the report is left
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished()
                                 && viewer.context.side(Side::B).phase == SideState::Phase::Open,
                             Patience);
    QVERIFY(!viewer.context.isReport());
}

void TestMainWindow::comparesElementsOfUnlikeTypes()
{
    // Codes by the formats' definitions: 1.0, 1.5 and -2.0; B holds 1.25 in the middle.
    const auto file = [&](const QString &name, const char *dtype, const QByteArray &data) {
        const QByteArray header = QByteArrayLiteral("{\"w\":{\"dtype\":\"") + dtype
            + "\",\"shape\":[3],\"data_offsets\":[0," + QByteArray::number(data.size()) + "]}}";
        QByteArray bytes(8, '\0');
        qToLittleEndian(quint64(header.size()), bytes.data());
        QFile out(m_folder.filePath(name));
        return out.open(QIODevice::WriteOnly) && out.write(bytes + header + data) > 0
            ? out.fileName()
            : QString();
    };
    const QString narrow = file(QStringLiteral("narrow"), "BF16",
                                QByteArray::fromHex("803f"
                                                    "c03f"
                                                    "00c0"));
    const QString wide = file(QStringLiteral("wide"), "F32",
                              QByteArray::fromHex("0000803f"
                                                  "0000a03f"
                                                  "000000c0"));
    Viewer viewer;
    viewer.context.openPair(narrow, wide);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    auto *elements = viewer.find<ElementView>();
    elements->setOrder(ElementOrder::ByIndex);
    QTRY_VERIFY_WITH_TIMEOUT(elements->rowTexts(2).size() > 3, Patience);
    QCOMPARE(elements->rowTexts(0)[3], QStringLiteral("0"));
    QCOMPARE(elements->rowTexts(1)[1].toDouble(), 1.5);
    QCOMPARE(elements->rowTexts(1)[2].toDouble(), 1.25);
    QCOMPARE(elements->rowTexts(1)[3].toDouble(), -0.25);
    QSignalSpy maps(&viewer.context, &ViewContext::mapReady);
    viewer.window.showPart(QStringLiteral("where"));
    QTRY_VERIFY_WITH_TIMEOUT(maps.count() > 0, Patience);
    const auto map = maps.last()[1].value<std::shared_ptr<const ElementMap>>();
    QCOMPARE(map->largest, 0.25);
}

void TestMainWindow::listsFolders()
{
    Viewer viewer;
    QSignalSpy listed(&viewer.context, &ViewContext::folderListed);
    viewer.context.listFolder(7, SampleA);
    QTRY_COMPARE_WITH_TIMEOUT(listed.count(), 1, Patience);
    QCOMPARE(listed[0][0].toULongLong(), 7ULL);
    const auto listing = listed[0][1].value<std::shared_ptr<const FolderListing>>();
    QStringList names;
    for (const FolderEntry &entry : listing->entries)
        names += QString::fromStdString(entry.name) + QLatin1String(entry.isFolder ? "/" : "");
    QStringList expected;
    for (const QFileInfo &info :
         QDir(SampleA).entryInfoList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden))
        expected += info.fileName() + QLatin1String(info.isDir() ? "/" : "");
    names.sort();
    expected.sort();
    QCOMPARE(names, expected);
    QSignalSpy failed(&viewer.context, &ViewContext::requestFailed);
    viewer.context.listFolder(8, SampleA + QStringLiteral("/nosuch"));
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, Patience);
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

void TestMainWindow::cutsNothingOffAtAnyFont()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    // The first control that is smaller than its text, or nothing.
    const auto cut = [&]() -> QString {
        viewer.window.grab();
        for (const QWidget *control : viewer.window.findChildren<QWidget *>()) {
            const bool hasText = qobject_cast<const QAbstractButton *>(control)
                || qobject_cast<const QComboBox *>(control);
            const bool elides = qobject_cast<const PathButton *>(control);
            const QSize least = control->minimumSizeHint();
            if (!hasText || elides || !control->isVisible()
                || (control->width() >= least.width() && control->height() >= least.height()))
                continue;
            return QStringLiteral("%1 '%2' has %3x%4 of %5x%6 pixels")
                .arg(QLatin1String(control->metaObject()->className()), control->accessibleName())
                .arg(control->width())
                .arg(control->height())
                .arg(least.width())
                .arg(least.height());
        }
        return {};
    };
    for (const int points : {9, 12, 16}) {
        viewer.window.applyFont(points);
        for (const char *part : {"elements", "where", "steps", "facts", "values", "pairing"}) {
            viewer.window.showPart(QLatin1String(part));
            QTRY_COMPARE(cut(), QString());                   // layouts settle
            QCOMPARE(viewer.window.size(), QSize(1280, 800)); // and the window does not grow
        }
    }
    viewer.window.applyFont(9);
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
    // Written beside and renamed into place, which leaves the open file as it was.
    const QString beside = folder.filePath(QStringLiteral("b.new"));
    QVERIFY(QFile::copy(SampleA + QStringLiteral("/step_000004.pt"), beside));
    QCOMPARE(::rename(QFile::encodeName(beside).constData(), QFile::encodeName(b).constData()), 0);
    viewer.context.checkFiles();
    QTRY_VERIFY_WITH_TIMEOUT(!viewer.context.changedFiles().isEmpty(), Patience);
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
