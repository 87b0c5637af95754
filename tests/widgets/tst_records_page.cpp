// SPDX-License-Identifier: GPL-3.0-or-later
// The page of records and what stands beside it, over a context whose answers are given by hand:
// what is shown, and what is asked for.
#include "support/fake_trace.h"
#include "support/fake_view_context.h"
#include "widget_test_main.h"
#include "widgets/models/cell_table_model.h"
#include "widgets/models/record_cells.h"
#include "widgets/roles.h"
#include "widgets/views/drift_view.h"
#include "widgets/views/record_detail.h"
#include "widgets/views/record_view.h"
#include "widgets/views/records_page.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

#include <memory>

using namespace forkpoint;
using namespace forkpoint::test;
using Seek = RecordQuery::Seek;

namespace {

TraceRecord recordOf(const std::string &name, const std::string &digest, std::uint64_t line)
{
    TraceRecord record = call(name, 0, {}, {seen(digest, DigestKind::Sha256)});
    record.iteration = 7;
    record.stage = "forward";
    record.place = {0, line, line * 100, 40, 0};
    return record;
}

RecordRow pairOf(std::uint64_t number, std::optional<TraceRecord> a, std::optional<TraceRecord> b)
{
    RecordRow row;
    row.number = number;
    if (a && b)
        row.evidence = compareRecords(*a, *b);
    row.status = statusOf(a ? &*a : nullptr, b ? &*b : nullptr, row.evidence, false);
    if (a)
        row.a = listed(*a);
    if (b)
        row.b = listed(*b);
    return row;
}

/// Equal, different, only in A, only in B.
std::shared_ptr<RecordWindow> windowFor(const RecordQuery &query)
{
    auto window = std::make_shared<RecordWindow>();
    window->query = query;
    window->rows = {pairOf(40, recordOf("embed", "aa", 1), recordOf("embed", "aa", 1)),
                    pairOf(41, recordOf("fc1", "bb", 2), recordOf("fc1", "cc", 2)),
                    pairOf(42, recordOf("drop", "dd", 3), std::nullopt),
                    pairOf(43, std::nullopt, recordOf("extra", "ee", 3))};
    for (const RecordRow &row : window->rows)
        window->counts.add(row.status);
    window->counts.rows = 60;
    window->rowsBefore = 40;
    window->found = 1;
    window->stages = {"forward"};
    window->inA = window->inB = window->complete = true;
    return window;
}

std::shared_ptr<RunComparison> comparisonOfTwoRanks()
{
    auto trace = std::make_shared<TraceComparison>();
    for (const std::int64_t number : {0, 1}) {
        RankComparison rank;
        rank.coordinate.rank = number;
        rank.records = 60;
        trace->ranks.push_back(rank);
    }
    RankDivergence first;
    first.record.iteration = 7;
    first.record.stage = "forward";
    first.record.name = "fc1";
    first.classification = {DivergenceClass::Origin, "its inputs are equal", {}};
    trace->ranks[1].first = first;
    trace->ranks[1].different = 3;
    trace->firstRank = 1;
    trace->coverage.ranksCompared = 2;
    trace->coverage.iterationsCompared = {6, 7, 8};
    for (const std::int64_t step : {7, 8}) {
        StageSummary stage;
        stage.iteration = step;
        stage.stage = "forward";
        stage.evidence.different = 2;
        trace->stages.push_back(stage);
    }
    trace->finished = true;
    auto comparison = std::make_shared<RunComparison>();
    comparison->trace = std::move(trace);
    comparison->finished = true;
    return comparison;
}

/// The page and its detail, seen, with the first answer given.
struct Shown
{
    FakeViewContext context;
    RecordsPage page{&context};
    RecordDetail detail{&context, &page};

    explicit Shown(bool answered = true)
    {
        page.resize(900, 500);
        detail.resize(700, 500);
        page.show();
        detail.show();
        context.setRuns(comparisonOfTwoRanks());
        if (answered)
            answer();
    }

    const RecordQuery &asked() const { return context.recordRequests.back().second; }
    void answer() { answer(windowFor(asked())); }
    void answer(std::shared_ptr<RecordWindow> window)
    {
        Q_EMIT context.recordsReady(context.recordRequests.back().first, std::move(window));
    }
    QString cell(int row, RecordColumn column) const
    {
        return page.view()->model()->index(row, int(column)).data().toString();
    }
};

} // namespace

class RecordsPageTest : public QObject
{
    Q_OBJECT

private slots:
    void opensAtTheFirstDivergence()
    {
        Shown shown(false);
        QAbstractItemModelTester tester(shown.page.view()->model());
        QCOMPARE(shown.context.recordRequests.size(), std::size_t(1));
        QCOMPARE(shown.asked().rank, std::size_t(1));
        QCOMPARE(shown.asked().iteration, std::optional<std::int64_t>(7));
        QVERIFY(shown.asked().seek == Seek::FirstDifference);
        shown.answer();
        QCOMPARE(shown.page.view()->currentIndex().row(), 1);
        QCOMPARE(shown.page.row()->record().name, std::string("fc1"));
        QVERIFY2(shown.page.summary().contains(u"41–44 of 60 records"),
                 qPrintable(shown.page.summary()));
        QVERIFY(!shown.page.grab().isNull());
    }

    void signsComeWithWords()
    {
        Shown shown;
        const QStringList words = {QStringLiteral("equal"), QStringLiteral("different"),
                                   QStringLiteral("only in A"), QStringLiteral("only in B")};
        for (int row = 0; row < 4; ++row) {
            QCOMPARE(shown.cell(row, RecordColumn::What), words[row]);
            QVERIFY(!shown.cell(row, RecordColumn::Sign).isEmpty());
        }
        QCOMPARE(shown.cell(1, RecordColumn::A), QStringLiteral("bb"));
        QCOMPARE(shown.cell(1, RecordColumn::B), QStringLiteral("cc"));
        QCOMPARE(shown.cell(1, RecordColumn::Shape), QStringLiteral("2"));
        QCOMPARE(shown.cell(1, RecordColumn::Evidence), QStringLiteral("sha256"));
        QCOMPARE(shown.cell(2, RecordColumn::B), QStringLiteral("–"));
    }

    void asksOnlyWhileSeen()
    {
        FakeViewContext context;
        RecordsPage page(&context);
        context.setRuns(comparisonOfTwoRanks());
        QVERIFY(context.recordRequests.empty());
        page.show();
        QCOMPARE(context.recordRequests.size(), std::size_t(1));
    }

    void f8GoesFromDifferenceToDifference()
    {
        Shown shown;
        QTest::keyClick(shown.page.view(), Qt::Key_F8);
        QCOMPARE(shown.page.view()->currentIndex().row(), 2);
        QTest::keyClick(shown.page.view(), Qt::Key_F8);
        QCOMPARE(shown.page.view()->currentIndex().row(), 3);
        QTest::keyClick(shown.page.view(), Qt::Key_F8, Qt::ShiftModifier);
        QCOMPARE(shown.page.view()->currentIndex().row(), 2);
        QCOMPARE(shown.context.recordRequests.size(), std::size_t(1));
        // At the window's end it asks for the next; where the step has none, at the next step.
        QTest::keyClick(shown.page.view(), Qt::Key_F8);
        QTest::keyClick(shown.page.view(), Qt::Key_F8);
        QVERIFY(shown.asked().seek == Seek::NextDifference);
        QCOMPARE(shown.asked().from, std::uint64_t(43));
        auto none = windowFor(shown.asked());
        none->found.reset();
        shown.answer(none);
        QCOMPARE(shown.asked().iteration, std::optional<std::int64_t>(8));
        QVERIFY(shown.asked().seek == Seek::FirstDifference);
        none = windowFor(shown.asked());
        shown.answer(none);
        QCOMPARE(shown.page.view()->currentIndex().row(), 1);
    }

    void arrowsGoOnAtTheEnds()
    {
        Shown shown;
        shown.page.view()->setCurrentIndex(shown.page.view()->model()->index(0, 0));
        QTest::keyClick(shown.page.view(), Qt::Key_Up);
        QVERIFY(shown.asked().seek == Seek::Before);
        QCOMPARE(shown.asked().from, std::uint64_t(40));
        shown.answer();
        shown.page.view()->setCurrentIndex(shown.page.view()->model()->index(3, 0));
        QTest::keyClick(shown.page.view(), Qt::Key_Down);
        QVERIFY(shown.asked().seek == Seek::At);
        QCOMPARE(shown.asked().from, std::uint64_t(44));
    }

    void followsTheTimeline()
    {
        Shown shown;
        shown.page.showPlace(8, {"forward"});
        QCOMPARE(shown.asked().iteration, std::optional<std::int64_t>(8));
        QCOMPARE(shown.asked().sought.stage, std::string("forward"));
        // Nothing differs there: the stage's first record is what is left to show.
        auto equal = windowFor(shown.asked());
        equal->found.reset();
        shown.answer(equal);
        QVERIFY(shown.asked().seek == Seek::At);
        QCOMPARE(shown.asked().sought.stage, std::string("forward"));
    }

    void aRankLeadsToItsRecords()
    {
        Shown shown;
        auto *table = shown.detail.rankTable();
        QCOMPARE(table->model()->rowCount(), 2);
        const auto cell = [&](int row, RankColumn column) {
            return table->model()->index(row, int(column)).data().toString();
        };
        QCOMPARE(cell(0, RankColumn::Class), QStringLiteral("none differs"));
        QCOMPARE(cell(1, RankColumn::Class), QStringLiteral("origin"));
        QCOMPARE(cell(1, RankColumn::Place), QStringLiteral("step 7, forward, fc1"));
        QCOMPARE(cell(1, RankColumn::Why), QStringLiteral("its inputs are equal"));
        Q_EMIT table->activated(table->model()->index(0, 0));
        QCOMPARE(shown.asked().rank, std::size_t(0));
    }

    void showsTheLinesVerbatimAndInert()
    {
        Shown shown;
        RecordView *view = shown.detail.recordView();
        QCOMPARE(shown.context.recordTextRequests.size(), std::size_t(1));
        QCOMPARE(shown.context.recordTextRequests[0].second.a->line, std::uint64_t(2));
        auto text = std::make_shared<RecordText>();
        text->a = RecordText::Side{"rank_0.jsonl", "{\"x\": \"<b>\x1b[31m\xe2\x80\xae\"}", false};
        text->b = RecordText::Side{"rank_0.jsonl", std::string(200'000, 'y'), true};
        Q_EMIT shown.context.recordTextReady(shown.context.recordTextRequests[0].first, text);
        QCOMPARE(view->lines(Side::A), QStringLiteral("{\"x\": \"<b>\\u001b[31m\\u202e\"}"));
        QVERIFY(view->lines(Side::B).size() < 21'000);
        QVERIFY(view->lines(Side::B).contains(u"the file has more of it"));
        QCOMPARE(view->tensors()->rowCount(), 1);
        // The copy is what is in the file.
        const auto buttons = view->findChildren<QToolButton *>();
        const auto copy = std::find_if(buttons.begin(), buttons.end(), [](QToolButton *each) {
            return each->toolTip().contains(u"lines of A");
        });
        QVERIFY(copy != buttons.end());
        (*copy)->click();
        QCOMPARE(QGuiApplication::clipboard()->text().toUtf8().toStdString(), text->a->text);
    }

    void saysWhereATensorDiffers()
    {
        Shown shown;
        auto text = std::make_shared<RecordText>();
        text->where = {{false, "", 1, 2, 3, 16384, 32767, 40000}};
        Q_EMIT shown.context.recordTextReady(shown.context.recordTextRequests[0].first, text);
        QVERIFY(shown.detail.recordView()->summary().contains(
            u"The first difference of output is among elements 16,384 to 32,767 of 40,000 "
            u"(2 of 3 leaves differ)."));
        text = std::make_shared<RecordText>();
        text->whyNowhere = "the digests of all leaves are equal";
        Q_EMIT shown.context.recordTextReady(shown.context.recordTextRequests[0].first, text);
        QVERIFY(shown.detail.recordView()->summary().contains(
            u"Where they differ is not known: the digests of all leaves are equal."));
    }

    void aRecordWithoutPartnerFindsItsNamesake()
    {
        Shown shown;
        shown.page.view()->setCurrentIndex(shown.page.view()->model()->index(2, 0));
        shown.page.goToNamesake();
        QVERIFY(shown.asked().seek == Seek::NextInB);
        QCOMPARE(shown.asked().sought.name, std::string("drop"));
        QCOMPARE(shown.asked().from, std::uint64_t(42));
        QSignalSpy said(&shown.page, &RecordsPage::message);
        auto none = windowFor(shown.asked());
        none->found.reset();
        shown.answer(none);
        QCOMPARE(said.size(), 1);
        QCOMPARE(shown.page.view()->model()->rowCount(), 4); // what was there stays
    }

    void opensTheTensorThatWasKept()
    {
        Shown shown;
        QSignalSpy opened(&shown.page, &RecordsPage::tensorRequested);
        shown.page.openTensor();
        QCOMPARE(opened.size(), 0); // none was kept
        auto window = windowFor(shown.asked());
        for (auto *side : {&window->rows[1].a, &window->rows[1].b}) {
            (*side)->record.microBatch = 2;
            (*side)->record.outputs[0].payloadOffset = 64;
        }
        shown.page.showRank(1);
        shown.answer(window);
        shown.page.openTensor();
        QCOMPARE(opened.size(), 0); // the step is a checkpoint
        for (SideState &side : shown.context.sides) {
            RunStep step{7, "A"};
            step.isKept = true;
            side.steps = {step};
        }
        shown.page.openTensor();
        QCOMPARE(opened.size(), 1);
        // Two ranks: the name begins with the rank, as kept tensors are listed.
        QVERIFY2(shown.context.calls.contains(
                     QStringLiteral("selectPlace 7 rank_0.forward.micro_batch_2.fc1")),
                 qPrintable(shown.context.calls.join(u'\n')));
    }

    void followsARecordOverTheSteps()
    {
        Shown shown;
        shown.detail.showPage(RecordDetail::Page::Steps);
        QCOMPARE(shown.context.driftRequests.size(), std::size_t(1));
        QCOMPARE(shown.context.driftRequests[0].second.identity, shown.page.row()->a->identity);
        auto drift = std::make_shared<RecordDrift>();
        for (const std::int64_t step : {6, 7}) {
            DriftPoint point;
            point.iteration = step;
            point.status = step == 6 ? RecordStatus::Equal : RecordStatus::Different;
            point.statistics = {{"l2", 2.0, step == 6 ? 2.0 : 3.0}};
            drift->points.push_back(point);
        }
        drift->complete = true;
        Q_EMIT shown.context.driftReady(shown.context.driftRequests[0].first, drift);
        const DriftView *view = shown.detail.driftView();
        QVERIFY2(view->note().contains(u"fc1 differs at 1 of 2 common steps."),
                 qPrintable(view->note()));
        QCOMPARE(view->model()->index(1, int(DriftColumn::Relative)).data().toString(),
                 QStringLiteral("0.5")); // |3-2|/2
        const auto isHidden = [&](DriftColumn column) {
            return view->findChild<QTreeView *>()->isColumnHidden(int(column));
        };
        QVERIFY(!isHidden(DriftColumn::Relative));
        drift = std::make_shared<RecordDrift>(*drift);
        for (DriftPoint &point : drift->points)
            point.statistics.clear();
        Q_EMIT shown.context.driftReady(shown.context.driftRequests[0].first, drift);
        QVERIFY(isHidden(DriftColumn::Statistic) && isHidden(DriftColumn::Relative));
        QVERIFY(!isHidden(DriftColumn::Evidence));
        QVERIFY(!shown.detail.grab().isNull());
    }

    void saysWhyNothingIsListed()
    {
        FakeViewContext context;
        RecordsPage page(&context);
        page.show();
        QVERIFY(!page.hasTraces());
        QVERIFY(page.summary().contains(u"where both sides have a trace"));
        auto refused = comparisonOfTwoRanks();
        auto trace = std::make_shared<TraceComparison>(*refused->trace);
        trace->refusal = "the traces are of two kinds";
        refused->trace = trace;
        context.setRuns(refused);
        QVERIFY(context.recordRequests.empty());
        QVERIFY(page.summary().contains(u"of two kinds"));
    }

    /// Whole under the table, whatever its columns cut; a rank of one side is no equal one.
    void ranksAreToldWhole()
    {
        Shown shown;
        auto comparison = comparisonOfTwoRanks();
        auto trace = std::make_shared<TraceComparison>(*comparison->trace);
        trace->ranksOnlyB.emplace_back().rank = 2;
        comparison->trace = trace;
        shown.context.setRuns(comparison);
        const QTreeView *table = shown.detail.rankTable();
        QCOMPARE(table->model()->rowCount(), 3);
        const auto *text = shown.detail.findChild<QLabel *>(QStringLiteral("rankText"));
        QVERIFY2(text->text().startsWith(QStringLiteral("rank 1 · ")), qPrintable(text->text()));
        QVERIFY(
            text->text().contains(QStringLiteral("step 7, forward, fc1: its inputs are equal")));
        shown.detail.rankTable()->setCurrentIndex(table->model()->index(2, 0));
        QCOMPARE(text->text(), QStringLiteral("rank 2: only in B: nothing of it is compared"));
    }

    void aFailureIsSaidInPlace()
    {
        Shown shown(false);
        Q_EMIT shown.context.requestFailed(shown.context.recordRequests.back().first,
                                           QStringLiteral("a file is gone"));
        QCOMPARE(shown.page.summary(), QStringLiteral("Not read: a file is gone"));
    }
};

FP_WIDGET_TEST_MAIN(RecordsPageTest)
#include "tst_records_page.moc"
