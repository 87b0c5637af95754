// SPDX-License-Identifier: GPL-3.0-or-later
// A mapping sheet written in the window, over a real session: the text and the sheet are the example
// of resources/docs/mapping.md, and what comes of each line was worked out by hand.
#include "app/gui/arguments.h"
#include "loaders/text/line_pattern.h"
#include "loaders/traces/mapping_sheet.h"
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/models/cell_table_model.h"
#include "widgets/views/mapping_dialog.h"
#include "widgets/views/sheet_editor.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/verdict_banner.h"

#include <QMessageBox>
#include <QPointer>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace forkpoint;

namespace {

const char *const Sheet =
    R"(mapping 1
name  our-logger
skip  ^\[(INFO|DEBUG)\]
line  ^it=(?P<step>\d+) rank=(?P<rank>\d+) (?P<stage>fwd|bwd) (?P<name>\S+) (?P<dtype>\w+)(?P<shape>\(.*?\)) sha=(?P<digest>[0-9a-f]+)$
line  ^it=(?P<step>\d+) rank=(?P<rank>\d+) (?P<name>loss): (?P<value>\S+)$
set   digest_kind sha256
)";

QByteArray linesWith(const char *loss)
{
    return QByteArray("[INFO] 8 workers\n"
                      "it=1 rank=0 fwd layers.0.mlp float32(2, 4) sha=")
        + QByteArray(64, '9') + "\nit=1 rank=0 loss: " + loss + "\n\n";
}

void write(const QString &path, const QByteArray &contents)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(contents);
}

QByteArray contents(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QString cell(const MappingDialog &dialog, int row, int column)
{
    return dialog.lines()->index(row, column).data().toString();
}

/// What a program says on its standard error, after its name, where it ends with status 2.
QByteArray complaint(const QString &program, const QStringList &words)
{
    QProcess process;
    process.start(program, words);
    if (!process.waitForFinished(Patience) || process.exitCode() != 2)
        return {};
    const QByteArray line = process.readAllStandardError().split('\n').first();
    return line.mid(line.indexOf(':'));
}

enum Column {
    Sign,
    LineNumber,
    Rule,
    StepNumber,
    Rank,
    Stage,
    Name,
    MicroBatch,
    Digest,
    Tensor,
    Text
};

} // namespace

class TestMappingDialog : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void showsWhatComesOfEachLine();
    void marksEveryWrongRule();
    void readsBothSidesByTheSheet();
    void savesOverNothingThatIsRead();
    void asksBeforeRulesAreLost();
    void refusesASheetThatItWouldChange();
    void otherRunsAreReadWithoutIt();
    void namedOnTheCommandLine();
    void refusedOnTheCommandLine();

private:
    QString path(const char *name) const { return m_folder.filePath(QLatin1String(name)); }

    QTemporaryDir m_folder;
};

void TestMappingDialog::initTestCase()
{
    QVERIFY(m_folder.isValid());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
    if (!whyNoPatterns().empty())
        QSKIP("this build knows no regular expressions");
    write(path("a.log"), linesWith("2.4375"));
    write(path("b.log"), linesWith("2.5"));
    write(path("lost.log"), linesWith("2.4375") + "it=1 rank=0 checkpoint saved\n");
    write(path("our.map"), Sheet);
}

void TestMappingDialog::showsWhatComesOfEachLine()
{
    Viewer viewer;
    MappingDialog dialog(&viewer.context, Side::A, path("lost.log"), &viewer.window);
    QTRY_COMPARE_WITH_TIMEOUT(dialog.lines()->rowCount(), 4, Patience); // blank ones are left out
    QCOMPARE(cell(dialog, 0, Text),
             QStringLiteral("[INFO] 8 workers")); // although no rule is there
    QCOMPARE(cell(dialog, 0, Sign), QString());   // and none has judged it
    QVERIFY(dialog.editor()->markedLines() == std::vector<std::size_t>{0}); // wrong as a whole
    dialog.editor()->setPlainText(QString::fromLatin1(Sheet));
    QTRY_VERIFY_WITH_TIMEOUT(dialog.summary().contains(
                                 QStringLiteral("4 lines: 2 records, 1 skipped, 1 not understood")),
                             Patience);
    QCOMPARE(cell(dialog, 0, Sign), QStringLiteral("·"));
    QCOMPARE(cell(dialog, 0, Rule), QStringLiteral("3"));
    QCOMPARE(cell(dialog, 1, Sign), QStringLiteral("✓"));
    QCOMPARE(cell(dialog, 1, LineNumber), QStringLiteral("2"));
    QCOMPARE(cell(dialog, 1, Rule), QStringLiteral("4"));
    QCOMPARE(cell(dialog, 1, StepNumber), QStringLiteral("1"));
    QCOMPARE(cell(dialog, 1, Rank), QStringLiteral("0"));
    QCOMPARE(cell(dialog, 1, Stage), QStringLiteral("forward"));
    QCOMPARE(cell(dialog, 1, Name), QStringLiteral("layers.0.mlp"));
    QCOMPARE(cell(dialog, 1, MicroBatch), QStringLiteral("–"));
    QVERIFY(cell(dialog, 1, Digest).startsWith(QStringLiteral("sha256 9999")));
    QCOMPARE(cell(dialog, 1, Tensor), QStringLiteral("float32 [2, 4]"));
    QCOMPARE(cell(dialog, 2, Rule), QStringLiteral("5"));
    QCOMPARE(cell(dialog, 2, Name), QStringLiteral("loss"));
    QCOMPARE(cell(dialog, 2, Digest), QStringLiteral("printed 2.4375"));
    QCOMPARE(cell(dialog, 3, Sign), QStringLiteral("?"));
    QCOMPARE(cell(dialog, 3, LineNumber), QStringLiteral("5")); // blank ones are counted
    QCOMPARE(cell(dialog, 3, Rule), QStringLiteral("–"));
}

void TestMappingDialog::marksEveryWrongRule()
{
    Viewer viewer;
    MappingDialog dialog(&viewer.context, Side::A, path("a.log"), &viewer.window);
    dialog.editor()->setPlainText(QStringLiteral("mapping 1\n"
                                                 "line  (?P<step>\\d+\n"
                                                 "name  x\n"
                                                 "colour red\n"));
    const std::vector<std::size_t> wrong{2, 4};
    QTRY_COMPARE_WITH_TIMEOUT(dialog.editor()->markedLines(), wrong, Patience);
    QVERIFY2(dialog.summary().contains(QStringLiteral("Line 4: expected one of name, files")),
             qPrintable(dialog.summary()));
    QTRY_COMPARE_WITH_TIMEOUT(dialog.lines()->rowCount(), 3, Patience);
}

void TestMappingDialog::readsBothSidesByTheSheet()
{
    Viewer viewer;
    viewer.context.openPair(path("a.log"), path("b.log"));
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.side(Side::A).phase == SideState::Phase::Failed
                                 && viewer.context.side(Side::B).phase == SideState::Phase::Failed,
                             Patience);
    QStringList links;
    for (const StyledText *text : viewer.find<VerdictBanner>()->findChildren<StyledText *>())
        links += text->links();
    QVERIFY(links.contains(QStringLiteral("mapping:A")));
    Q_EMIT viewer.find<VerdictBanner>()->mappingRequested(Side::A);
    auto *dialog = viewer.find<MappingDialog>();
    QVERIFY(dialog);
    dialog->openSheet(path("our.map"));
    QPushButton *use = nullptr;
    for (QPushButton *button : dialog->findChildren<QPushButton *>()) {
        if (button->text() == QLatin1String("Use"))
            use = button;
    }
    QVERIFY(use);
    QTRY_VERIFY_WITH_TIMEOUT(use->isEnabled(), Patience);
    use->click();
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QCOMPARE(viewer.context.side(Side::A).format, QStringLiteral("mapping our-logger"));
    // 2.4375 and 2.5 cannot be the same number, however they were rounded.
    const auto comparison = viewer.context.comparison();
    QVERIFY(comparison->verdict.outcome == Outcome::Different);
    QCOMPARE(comparison->firstDivergence->name, std::string("loss"));
    QVERIFY2(viewer.context.commandLine().contains(QStringLiteral(" --mapping ")),
             qPrintable(viewer.context.commandLine()));
    QVERIFY(viewer.context.commandLine().contains(QStringLiteral("our.map")));
}

void TestMappingDialog::savesOverNothingThatIsRead()
{
    Viewer viewer;
    MappingDialog dialog(&viewer.context, Side::A, path("a.log"), &viewer.window);
    const QString sheet = QString::fromLatin1(Sheet) + QStringLiteral("# a\u00a0b\n");
    dialog.editor()->setPlainText(sheet);
    int saved = 0;
    dialog.saveSheet(path("a.log"), [&] { ++saved; });
    QTRY_VERIFY2_WITH_TIMEOUT(dialog.summary().contains(QStringLiteral("a.log")),
                              qPrintable(dialog.summary()), Patience);
    QCOMPARE(contents(path("a.log")), linesWith("2.4375"));
    dialog.saveSheet(path("new.map"), [&] { ++saved; });
    QTRY_COMPARE_WITH_TIMEOUT(saved, 1, Patience);
    QCOMPARE(contents(path("new.map")), sheet.toUtf8());
}

void TestMappingDialog::asksBeforeRulesAreLost()
{
    Viewer viewer;
    auto *dialog = new MappingDialog(&viewer.context, Side::A, path("a.log"), &viewer.window);
    const QPointer<MappingDialog> alive(dialog);
    dialog->open();
    dialog->editor()->appendPlainText(QStringLiteral("skip x"));
    dialog->reject();
    QVERIFY(dialog->isVisible());
    auto *box = dialog->findChild<QMessageBox *>();
    QVERIFY(box);
    box->button(QMessageBox::Cancel)->click();
    QVERIFY(dialog->isVisible());
    dialog->reject();
    QTRY_COMPARE(dialog->findChildren<QMessageBox *>().size(), 1);
    dialog->findChild<QMessageBox *>()->button(QMessageBox::Discard)->click();
    QTRY_VERIFY(!alive);
}

void TestMappingDialog::refusesASheetThatItWouldChange()
{
    write(path("latin1.map"), QByteArray(Sheet) + "# \xe4\n");
    Viewer viewer;
    MappingDialog dialog(&viewer.context, Side::A, path("a.log"), &viewer.window);
    dialog.openSheet(path("latin1.map"));
    QTRY_VERIFY2_WITH_TIMEOUT(dialog.summary().contains(QStringLiteral("UTF-8")),
                              qPrintable(dialog.summary()), Patience);
    QVERIFY(!dialog.editor()->text().contains(QStringLiteral("our-logger")));
}

void TestMappingDialog::otherRunsAreReadWithoutIt()
{
    Viewer viewer;
    viewer.context.useMapping(Side::A, path("a.log"), QString::fromLatin1(Sheet), path("our.map"));
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.side(Side::A).phase == SideState::Phase::Open,
                             Patience);
    QCOMPARE(viewer.context.mappingSheet(), path("our.map"));
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QVERIFY(viewer.context.mappingSheet().isEmpty());
    QVERIFY(!viewer.context.commandLine().contains(QStringLiteral("--mapping")));
}

/// The same word as forkpoint-cli's, for both sides.
void TestMappingDialog::namedOnTheCommandLine()
{
    const Arguments given = Arguments::parse(
        {path("a.log"), QStringLiteral("--mapping"), path("our.map"), path("b.log")});
    QVERIFY(given.mode == Arguments::Mode::Show);
    QCOMPARE(given.mapping, path("our.map"));
    QCOMPARE(given.paths, QStringList({path("a.log"), path("b.log")}));
    for (const QStringList &words : {QStringList{QStringLiteral("--mapping")},
                                     QStringList{QStringLiteral("--mapping"), path("our.map")}})
        QVERIFY(Arguments::parse(words).mode == Arguments::Mode::Wrong);

    Viewer viewer;
    const auto sheet = MappingSheet::read(given.mapping.toStdString());
    QVERIFY(sheet.ok());
    viewer.context.openPaths(given.paths, *sheet);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QVERIFY(viewer.context.comparison()->verdict.outcome == Outcome::Different);
    QVERIFY(viewer.context.commandLine().contains(QStringLiteral("--mapping")));

    viewer.context.closeAll();
    viewer.context.openPaths({path("a.log")}, *sheet);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.side(Side::A).phase == SideState::Phase::Open,
                             Patience);
    viewer.context.openSide(Side::B, path("b.log")); // which it is read by too
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QCOMPARE(viewer.context.mappingSheet(), path("our.map"));
}

/// What the program itself says of a sheet that it cannot use is what forkpoint-cli says.
void TestMappingDialog::refusedOnTheCommandLine()
{
    write(path("wrong.map"), "mapping 7\n");
    for (const char *sheet : {"wrong.map", "missing.map"}) {
        const QStringList words{QStringLiteral("--mapping"), path(sheet), path("a.log"),
                                path("b.log")};
        const QByteArray window = complaint(QStringLiteral(FORKPOINT_VIEWER), words);
        QVERIFY(window.contains(sheet));
        const QByteArray terminal = complaint(QStringLiteral(FORKPOINT_CLI),
                                              QStringList{QStringLiteral("compare")} + words);
        QCOMPARE(window, terminal);
    }
}

FP_WIDGET_TEST_MAIN(TestMappingDialog)
#include "tst_mapping_dialog.moc"
