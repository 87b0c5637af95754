// SPDX-License-Identifier: GPL-3.0-or-later
// The bundled captures in the window, over a real session: where their README says that a run parts
// from A, the page of records opens, and from there the way leads to the elements.
#include "loaders/hdf5/hdf5_client.h"
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/views/record_detail.h"
#include "widgets/views/record_view.h"
#include "widgets/views/records_page.h"
#include "widgets/views/steps_page.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"

#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

using namespace forkpoint;

namespace {

const QString Captures = QStringLiteral(FORKPOINT_SAMPLES "/captures");
const QString Data = QStringLiteral(FORKPOINT_TEST_DATA "/traces");

/// The window with two captures open.
struct TraceViewer : Viewer
{
    TraceViewer(const QString &folder, const QString &b)
    {
        context.openPair(folder + QStringLiteral("/A"), folder + u'/' + b);
    }

    TensorList &list() const { return *window.findChild<TensorList *>(); }
    RecordsPage &records() const { return *list().records(); }
    bool compared() const { return context.comparison() && context.comparison()->finished; }
    bool listed() const
    {
        return context.comparison() && context.comparison()->finished && records().window()
            && records().window()->complete && records().row();
    }
    std::string selectedTensor() const
    {
        const auto comparison = context.stepComparison();
        const auto row = context.selectedTensor();
        return comparison && row ? comparison->tensors[*row].name : std::string();
    }
};

/// A stream as Megatron-Bridge writes it: a record of three operations in each of these steps.
QByteArray bridgeStream(int first, int last)
{
    QByteArray text =
        R"({"_header": true, "coords": {"global_rank": 0, "pp": 0, "tp": 0, "cp": 0, )"
        R"("dp": 0}, "config": {"world_size": 1}})"
        "\n";
    for (int i = 3 * (first - 1); i < 3 * last; ++i) {
        text +=
            QStringLiteral(R"({"seq_id": %1, "window": %2, "op": "aten.mm.default", "group": )"
                           R"("aten", "align_idx": %3, "scope": null, "caller": null, "input": )"
                           R"([], "output": [{"shape": [2, 4], "dtype": "torch.float32", )"
                           R"("digest": "3ff0%4", "numel": 8}]})")
                .arg(i)
                .arg(i / 3 + 1)
                .arg(i % 3)
                .arg(0, 12, 16, QLatin1Char('0'))
                .toUtf8()
            + '\n';
    }
    return text;
}

void writeStream(const QString &folder, const QByteArray &bytes,
                 QIODevice::OpenMode mode = QIODevice::WriteOnly)
{
    QVERIFY(QDir().mkpath(folder));
    QFile file(folder + QStringLiteral("/stream_pp0_tp0_cp0_dp0.fp"));
    QVERIFY(file.open(mode));
    QCOMPARE(file.write(bytes), bytes.size());
}

/// Of a window of 1280 pixels, whatever tabs there are.
void controlsAreOneLine(const TensorList &list)
{
    const auto *tabs = list.findChild<QTabBar *>();
    // These captures logged some.
    QTRY_VERIFY(tabs->rect().contains(tabs->tabRect(int(TensorList::Page::Metrics))));
    const auto *filter = list.findChild<QLineEdit *>();
    const QToolButton *last = nullptr;
    for (const QToolButton *button : list.findChildren<QToolButton *>()) {
        if (button->accessibleName() == QLatin1String("What is shown"))
            last = button;
    }
    QVERIFY(last && last->isVisible());
    QTRY_VERIFY(last->geometry().top() < filter->geometry().bottom());
}

} // namespace

class RecordsWindowTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
        if (!whyNoHdf5().empty())
            QSKIP("this build reads no HDF5");
    }

    void leadsToTheElements_data()
    {
        QTest::addColumn<QString>("run");
        QTest::addColumn<qint64>("step");
        QTest::addColumn<QString>("stage");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("tensor");
        QTest::newRow("C") << QStringLiteral("C") << qint64(1) << QStringLiteral("grad")
                           << QStringLiteral("embed_tokens.weight")
                           << QStringLiteral("grad.embed_tokens.weight");
        QTest::newRow("D") << QStringLiteral("D") << qint64(5) << QStringLiteral("rng")
                           << QStringLiteral("torch.cpu") << QStringLiteral("rng.torch.cpu");
        QTest::newRow("F") << QStringLiteral("F") << qint64(7) << QStringLiteral("batch")
                           << QStringLiteral("input")
                           << QStringLiteral("batch.micro_batch_0.input.0");
    }

    void leadsToTheElements()
    {
        QFETCH(const QString, run);
        QFETCH(const qint64, step);
        QFETCH(const QString, stage);
        QFETCH(const QString, name);
        QFETCH(const QString, tensor);
        TraceViewer viewer(Captures, run);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.compared(), Patience);
        controlsAreOneLine(viewer.list());
        // What is shown before anyone chose.
        QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(viewer.selectedTensor()), tensor,
                                  Patience);
        QVERIFY(viewer.window.showPart(QStringLiteral("records")));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.listed(), Patience);
        const RecordRow &row = *viewer.records().row();
        QVERIFY(row.status == RecordStatus::Different);
        QCOMPARE(qint64(row.record().iteration.value_or(-1)), step);
        QCOMPARE(QString::fromStdString(row.record().stage), stage);
        QCOMPARE(QString::fromStdString(row.record().name), name);
        QVERIFY(viewer.window.findChild<RecordDetail *>()->isVisible());
        viewer.list().showPage(TensorList::Page::Tensors);
        controlsAreOneLine(viewer.list());

        viewer.records().openTensor();
        QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(viewer.selectedTensor()), tensor,
                                  Patience);
        QVERIFY(viewer.list().page() == TensorList::Page::Tensors);
        auto *detail = viewer.window.findChild<TensorDetail *>();
        QVERIFY(detail->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(detail->summary().contains(tensor), Patience);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.context.selectedStats(), Patience);
        QVERIFY(viewer.context.selectedStats()->differentElements > 0);
    }

    /// A kept tensor is followed over the steps as one of checkpoints.
    void tensorsThatTracesKeptAreFollowedOverTheSteps()
    {
        TraceViewer viewer(Captures, QStringLiteral("C"));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.compared(), Patience);
        QVERIFY(viewer.window.showPart(QStringLiteral("tensors")));
        QVERIFY(viewer.window.showPart(QStringLiteral("steps")));
        const auto *page = viewer.find<StepsPage>();
        const auto *table = page->findChild<QTreeView *>();
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 1, Patience);
        QCOMPARE(table->model()->index(0, 1).data().toString(), QStringLiteral("1"));
    }

    /// The counts are those of a walk over the segments' digests with h5py.
    void theBannerSaysWhatTheRecordsSay()
    {
        TraceViewer viewer(Captures, QStringLiteral("C"));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.compared(), Patience);
        auto *banner = viewer.window.findChild<VerdictBanner *>();
        const QString classes = banner->plainText().section(u'\n', -1);
        QCOMPARE(
            classes.simplified(),
            QStringLiteral(
                "≠ weights 14 of 29 recorded values differ – optimizer not recorded = scheduler "
                "equal – counter not recorded = rng equal = data equal"));
        // make_captures.py runs C with accumulate="reverse".
        QVERIFY2(banner->plainText().contains(QStringLiteral(
                     "1 setting of the process differs: recipe.accumulate forward → reverse")),
                 qPrintable(banner->plainText()));
        QSignalSpy place(banner, &VerdictBanner::placeRequested);
        for (StyledText *text : banner->findChildren<StyledText *>())
            if (text->isVisible() && text->plainText().contains(u"weights"))
                Q_EMIT text->linkActivated(QStringLiteral("place:1:weight"));
        QCOMPARE(place.count(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.listed(), Patience);
        QVERIFY(viewer.list().page() == TensorList::Page::Records);
        QCOMPARE(QString::fromStdString(viewer.records().row()->record().stage),
                 QStringLiteral("weight"));
    }

    void anotherStepIsFollowed()
    {
        TraceViewer viewer(Captures, QStringLiteral("D"));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.compared(), Patience);
        QVERIFY(viewer.window.showPart(QStringLiteral("records")));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.listed(), Patience);
        viewer.context.selectStep(2); // before D begins
        QTRY_VERIFY_WITH_TIMEOUT(viewer.listed() && viewer.records().window()->query.iteration == 2,
                                 Patience);
        QVERIFY(viewer.records().window()->inA && !viewer.records().window()->inB);
        QCOMPARE(viewer.records().window()->counts.onlyA, viewer.records().window()->counts.rows);
    }

    /// F5 while B is still being written: a torn line first, then the rest, which differs.
    void aGrowingTraceIsReadAgain()
    {
        const QString a = m_folder.filePath(QStringLiteral("grows/A"));
        const QString b = m_folder.filePath(QStringLiteral("grows/B"));
        const QByteArray whole = bridgeStream(1, 4);
        const qsizetype half = whole.indexOf("\"window\": 3") + 40; // inside a line of step 3
        writeStream(a, whole);
        writeStream(b, whole.left(half));
        TraceViewer viewer(m_folder.filePath(QStringLiteral("grows")), QStringLiteral("B"));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.listed(), Patience);
        QVERIFY(viewer.context.comparison()->verdict.outcome == Outcome::Undecided);
        QCOMPARE(viewer.context.comparison()->trace->coverage.iterationsCompared,
                 (std::vector<std::int64_t>{1, 2}));
        QVERIFY(viewer.context.changedFiles().isEmpty());

        QByteArray rest = whole.mid(half);
        rest.replace(rest.lastIndexOf("000000000000"), 12, "000000000001");
        writeStream(b, rest, QIODevice::Append);
        viewer.context.checkFiles();
        QTRY_VERIFY_WITH_TIMEOUT(!viewer.context.changedFiles().isEmpty(), Patience);
        QTest::keyClick(&viewer.window, Qt::Key_F5);
        const auto isAgain = [&] {
            return viewer.listed()
                && viewer.context.comparison()->verdict.outcome == Outcome::Different;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isAgain(), Patience);
        QVERIFY(viewer.context.changedFiles().isEmpty());
        QCOMPARE(viewer.context.comparison()->trace->coverage.iterationsCompared,
                 (std::vector<std::int64_t>{1, 2, 3, 4}));
        QCOMPARE(viewer.context.comparison()->firstDivergence->step, std::optional<Step>(4));

        writeStream(b, bridgeStream(5, 5).split('\n').at(1) + '\n', QIODevice::Append);
        viewer.context.checkFiles(); // noticed again, and what is shown stays until asked
        QTRY_VERIFY_WITH_TIMEOUT(!viewer.context.changedFiles().isEmpty(), Patience);
        QVERIFY(viewer.context.comparison()->trace->coverage.iterationsOnlyB.empty());
        QTest::keyClick(&viewer.window, Qt::Key_F5);
        const auto hasStep = [&] {
            return viewer.listed()
                && viewer.context.comparison()->trace->coverage.iterationsOnlyB
                == std::vector<std::int64_t>{5};
        };
        QTRY_VERIFY_WITH_TIMEOUT(hasStep(), Patience);
    }

    void aPairWithoutTracesHasNoSuchPage()
    {
        // Traces without any tensor open at their records.
        TraceViewer viewer(QStringLiteral(FORKPOINT_TEST_DATA "/traces/bridge"),
                           QStringLiteral("C"));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.listed(), Patience);
        QVERIFY(viewer.list().page() == TensorList::Page::Records);
        viewer.context.openPair(SampleA, SampleC);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.context.comparison()
                                     && viewer.context.comparison()->finished
                                     && !viewer.context.comparison()->trace,
                                 Patience);
        QVERIFY(!viewer.records().hasTraces());
        QVERIFY(viewer.list().page() == TensorList::Page::Tensors);
        QVERIFY(!viewer.window.showPart(QStringLiteral("records")));
        QVERIFY(viewer.window.findChild<TensorDetail *>()->isVisible());
    }

    /// The two files have 16 lines each (wc).
    void aTraceAloneListsItsRecords()
    {
        Viewer viewer;
        viewer.context.openSide(Side::A, Data + QStringLiteral("/typed/A"));
        auto *list = viewer.find<TensorList>();
        RecordsPage *records = list->records();
        QTRY_VERIFY_WITH_TIMEOUT(records->window() && records->window()->complete, Patience);
        QVERIFY(list->page() == TensorList::Page::Records);
        QVERIFY(records->isAlone());
        QVERIFY2(records->summary().contains(QStringLiteral("none compared")),
                 qPrintable(records->summary()));
        auto *view = viewer.find<RecordView>();
        QTRY_VERIFY(!view->lines(Side::A).isEmpty());
        QVERIFY(view->lines(Side::B).isEmpty());
        const QString banner = viewer.find<VerdictBanner>()->plainText();
        QVERIFY2(banner.contains(QStringLiteral("32 records are listed below")),
                 qPrintable(banner));
        QSignalSpy messages(records, &RecordsPage::message);
        records->goToDifference(false);
        QCOMPARE(messages.count(), 1);
        // A partner of its kind ends that.
        viewer.context.openSide(Side::B, Data + QStringLiteral("/typed/C"));
        QTRY_VERIFY_WITH_TIMEOUT(
            !records->isAlone() && records->window() && records->window()->complete, Patience);
        QVERIFY(records->window()->counts.differences() > 0);
    }

    void tracesOfTwoKindsAreListedOneAtATime()
    {
        Viewer viewer;
        viewer.context.openPair(Data + QStringLiteral("/typed/A"),
                                Data + QStringLiteral("/bridge/A"));
        auto *list = viewer.find<TensorList>();
        RecordsPage *records = list->records();
        QTRY_VERIFY_WITH_TIMEOUT(records->window() && records->window()->complete, Patience);
        QVERIFY(list->page() == TensorList::Page::Records);
        QVERIFY(records->row()->a && !records->row()->b);
        auto *side = records->findChild<QComboBox *>();
        QVERIFY(side->isVisible());
        QCOMPARE(side->count(), 2);
        side->setCurrentIndex(1);
        Q_EMIT side->activated(1);
        QTRY_VERIFY_WITH_TIMEOUT(records->row() && records->row()->b && !records->row()->a,
                                 Patience);
        QVERIFY(viewer.find<VerdictBanner>()->plainText().contains(
            QStringLiteral("the traces are of two kinds")));
    }

    void aTraceBesideACheckpointIsListed()
    {
        Viewer viewer;
        viewer.context.openPair(Data + QStringLiteral("/typed/A"),
                                SampleA + QStringLiteral("/step_000004.pt"));
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
        QVERIFY(viewer.window.showPart(QStringLiteral("records")));
        RecordsPage *records = viewer.find<TensorList>()->records();
        QTRY_VERIFY_WITH_TIMEOUT(records->window() && records->window()->complete, Patience);
        const QString banner = viewer.find<VerdictBanner>()->plainText();
        QVERIFY2(banner.contains(QStringLiteral("118 tensors, 119 values and 32 records")),
                 qPrintable(banner));
    }

private:
    QTemporaryDir m_folder;
};

FP_WIDGET_TEST_MAIN(RecordsWindowTest)
#include "tst_records_window.moc"
