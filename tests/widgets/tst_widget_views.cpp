// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/fake_view_context.h"
#include "widgets/display_text.h"
#include "widgets/plot/histogram_plot.h"
#include "widgets/theme.h"
#include "widgets/views/element_view.h"
#include "widgets/views/job_status.h"
#include "widgets/views/pair_button.h"
#include "widgets/views/remark_dock.h"
#include "widgets/views/side_chip.h"
#include "widgets/views/side_chips.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"
#include "widgets/widget_test_main.h"

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolButton>
#include <QTreeView>

#include <cmath>

#include <qcustomplot.h>

using namespace forkpoint;

namespace {

constexpr Index TenBillion = 10'000'000'000ULL;

void dropPath(QWidget *target, const QString &path)
{
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(target, &enter);
    QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(target, &drop);
}

/// A context with one selected tensor of so many elements, all of them differing or none known.
void selectOne(FakeViewContext &context, TensorRow row)
{
    context.checkpointComparison = makeComparison({std::move(row)}, {});
    context.tensor = 0;
    context.step = 1;
}

ElementPage pageFor(const ElementQuery &query, std::size_t limit = 100'000)
{
    ElementPage page;
    for (std::size_t i = 0; i < std::min(query.count, limit); ++i)
        page.rows.push_back(floatRow(query.offset + i, 1.0F, 1.5F));
    return page;
}

} // namespace

class TestWidgetViews : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void chipsShowStatesAndTakeDrops();
    void bannerSaysVerdictRecipeAndClasses();
    void bannerSaysWhatKindOfDifferenceItIs();
    void longNamesAreCountedRatherThanLaidOut();
    void bannerSaysThatAPartialResultIsNoVerdict();
    void bannerKeepsHostileNamesInert();
    void stripSelectsAndJumps();
    void stripNeverHidesADifference();
    void stripSaysThePrecisionOfTheMetric();
    void listFiltersSelectsAndSwitches();
    void bannerNamesTheSideThatFailed();
    void selectionIsQuietOnAnyDesktop();
    void listSaysWhyItIsEmpty();
    void detailOfUnlikeCopiesSaysWhyBeforeWhatIsEqual();
    void detailSummarisesAndPlots();
    void elementsScrollTenBillionRows();
    void elementsSayLoadingAndFailed();
    void elementsIgnoreAnswersOfAnotherTensor();
    void elementsJumpByIndexAndDifference();
    void elementsCopyRowsThatWereNeverInView();
    void statusShowsProgressAndCancels();
    void docksListAndLead();
    void welcomeOpensSamplesAndRecent();
    void recentPairsAreToldApart();
    void everyControlHasAName();
};

void TestWidgetViews::chipsShowStatesAndTakeDrops()
{
    FakeViewContext context;
    SideChips chips(&context);
    auto *a = chips.findChild<SideChip *>(QStringLiteral("chipA"));
    QSignalSpy open(&chips, &SideChips::openRequested);
    a->click();
    QCOMPARE(open.count(), 1);
    QCOMPARE(open[0][0].value<Side>(), Side::A);
    dropPath(a, QStringLiteral("/data/run"));
    QCOMPARE(context.calls, QStringList{QStringLiteral("openSide A /data/run")});
    SideState state;
    state.phase = SideState::Phase::Open;
    state.path = QStringLiteral("runs/A");
    state.format = QStringLiteral("torch");
    state.steps = {{4, "a", true}, {8, "b", true}, {12, "c", true}};
    context.setSide(Side::A, state);
    QCOMPARE(a->stateText(), QStringLiteral("torch, 3 checkpoints"));
    for (RunStep &step : state.steps)
        step.isKept = true; // by a trace: no checkpoints
    context.setSide(Side::A, state);
    QCOMPARE(a->stateText(), QStringLiteral("torch, tensors of 3 steps"));
    state.phase = SideState::Phase::Failed;
    state.error = QStringLiteral("ends at byte 90, file has 80");
    context.setSide(Side::A, state);
    QVERIFY(a->accessibleName().contains(state.error));
    state.error = QStringLiteral("runs/A: cannot be opened"); // the path stands there already
    context.setSide(Side::A, state);
    QCOMPARE(a->stateText(), QStringLiteral("✖ cannot be opened"));
    QTest::mouseClick(chips.findChild<QToolButton *>(), Qt::LeftButton);
    QCOMPARE(context.calls.last(), QStringLiteral("swapSides"));
}

void TestWidgetViews::bannerSaysVerdictRecipeAndClasses()
{
    FakeViewContext context;
    fillLikeSamples(context);
    VerdictBanner banner(&context);
    const QString text = banner.plainText();
    QVERIFY2(text.startsWith(QStringLiteral("≠ Different: ")), qPrintable(text));
    QVERIFY(text.contains(QStringLiteral("The first divergence lies in steps 1 to 4")));
    QVERIFY(text.contains(QStringLiteral("1 recipe difference: args.accumulate")));
    QVERIFY(!text.contains(QStringLiteral("args.lr"))); // equal: no suspect
    QVERIFY(text.contains(QStringLiteral("≠ weights 37 of 49 differ")));
    QVERIFY(text.contains(QStringLiteral("≠ optimizer 1 of 1 differ")));
    QVERIFY(text.contains(QStringLiteral("= scheduler equal")));
    QVERIFY(text.contains(QStringLiteral("data not recorded")));
    QVERIFY(text.contains(QStringLiteral("150 of 150 tensors")));
    QSignalSpy recipe(&banner, &VerdictBanner::recipeRequested);
    auto *styled = banner.findChild<StyledText *>();
    Q_EMIT styled->linkActivated(QStringLiteral("recipe"));
    QCOMPARE(recipe.count(), 1);
    styled->setFocus();
    QTest::keyClick(styled, Qt::Key_Return); // the first link: show step 4
    QCOMPARE(context.calls.last(), QStringLiteral("selectStep 4"));
}

void TestWidgetViews::bannerSaysWhatKindOfDifferenceItIs()
{
    FakeViewContext context;
    fillLikeSamples(context);
    RunComparison comparison = *context.comparison();
    const auto add = [&](const char *id, Certainty certainty, const char *text) {
        comparison.findings.push_back({id, certainty, Severity::Warning, text, {}});
    };
    add("rounded-to-narrower", Certainty::Is, "B equals A rounded to BF16, in 3 tensors");
    add("same-rows-permuted", Certainty::ConsistentWith, "a guess");
    add("metric-alike", Certainty::Is, "something else");
    add("not-finite", Certainty::Is, "NaN or infinity in B where A has none, first head.weight");
    context.setRuns(std::make_shared<RunComparison>(comparison));
    VerdictBanner banner(&context);
    const QString text = banner.plainText();
    const auto nan = text.indexOf(QStringLiteral("NaN or infinity in B where A has none"));
    QVERIFY2(nan > 0, qPrintable(text));
    QVERIFY(text.indexOf(QStringLiteral("B equals A rounded to BF16")) > nan);
    QVERIFY(!text.contains(QStringLiteral("a guess")));
    QVERIFY(!text.contains(QStringLiteral("something else")));
}

// A layout of 100,000 characters takes seconds; what is left out is counted, and copying gives it.
void TestWidgetViews::longNamesAreCountedRatherThanLaidOut()
{
    const QString name(100'000, u'x');
    StyledText text;
    text.setSegments(
        {{name, {}, true, true, {}}, {QStringLiteral(" differs"), {}, false, false, {}}});
    QCOMPARE(text.plainText(), name + QStringLiteral(" differs"));
    QVERIFY(text.heightForWidth(600) < 20 * text.fontMetrics().height());
    QTest::keyClick(&text, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), text.plainText());
    QVERIFY(cellText(name).size() < 1000);
    QVERIFY(cellText(name).contains(QStringLiteral("(")));
}

void TestWidgetViews::bannerSaysThatAPartialResultIsNoVerdict()
{
    FakeViewContext context;
    fillLikeSamples(context);
    auto partial = std::make_shared<RunComparison>(*context.runComparison);
    partial->finished = false;
    context.jobState.phase = JobState::Phase::Running;
    context.jobState.progress.itemsDone = 34;
    context.jobState.progress.itemsTotal = 1200;
    VerdictBanner banner(&context);
    context.setRuns(partial);
    QVERIFY(
        banner.plainText().contains(QStringLiteral("So far 34 of 1,200 tensors; not a verdict")));
    QVERIFY(!banner.plainText().contains(QStringLiteral("Different:")));
    context.setRuns(nullptr);
    JobState failed;
    failed.phase = JobState::Phase::Failed;
    failed.error = QStringLiteral("no such file");
    context.setJob(failed);
    QVERIFY(banner.plainText().contains(QStringLiteral("No such file")));
}

void TestWidgetViews::bannerKeepsHostileNamesInert()
{
    FakeViewContext context;
    fillLikeSamples(context);
    auto runs = std::make_shared<RunComparison>(*context.runComparison);
    runs->shown = *makeComparison({},
                                  {valueRow("<img src=x>\xe2\x80\xae", StateClass::Recipe,
                                            Value::integer(1), Value::integer(2))});
    VerdictBanner banner(&context);
    context.setRuns(runs);
    QVERIFY(banner.plainText().contains(QStringLiteral("<img src=x>\\u202e")));
}

void TestWidgetViews::stripSelectsAndJumps()
{
    FakeViewContext context;
    fillLikeSamples(context);
    auto runs = std::make_shared<RunComparison>(*context.runComparison);
    runs->steps[0].status = StepStatus::Identical;
    context.runComparison = runs;
    context.step = 4;
    StepStrip strip(&context);
    strip.resize(1000, strip.sizeHint().height());
    strip.nextDifferenceAction()->trigger();
    QCOMPARE(*context.step, Step(8));
    strip.nextDifferenceAction()->trigger();
    strip.nextDifferenceAction()->trigger(); // stays at the last
    QCOMPARE(*context.step, Step(12));
    strip.previousDifferenceAction()->trigger();
    QCOMPARE(*context.step, Step(8));
    strip.previousDifferenceAction()->trigger(); // step 4 is equal
    QCOMPARE(*context.step, Step(8));
    QTest::keyClick(&strip, Qt::Key_Home);
    QCOMPARE(*context.step, Step(4));
    QTest::keyClick(&strip, Qt::Key_Right);
    QCOMPARE(*context.step, Step(8));
    const auto columns = strip.columns();
    QCOMPARE(columns.size(), std::size_t(3));
    QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(columns[2].x, strip.height() / 2));
    QCOMPARE(*context.step, Step(12));
    QCOMPARE(strip.nextDifferenceAction()->shortcut(), QKeySequence(Qt::Key_F8));
}

void TestWidgetViews::stripNeverHidesADifference()
{
    FakeViewContext context;
    auto runs = std::make_shared<RunComparison>();
    for (Step step = 0; step < 100'000; ++step)
        runs->steps.push_back(
            {step, step == 54'321 ? StepStatus::Different : StepStatus::Identical, 0, {}});
    context.runComparison = runs;
    StepStrip strip(&context);
    strip.resize(1200, strip.sizeHint().height());
    strip.zoomToFitAction()->trigger();
    const auto columns = strip.columns();
    QVERIFY(columns.size() < 1200);
    const auto differing = std::count_if(columns.begin(), columns.end(), [](const auto &column) {
        return column.status == StepStatus::Different;
    });
    QCOMPARE(differing, 1);
    strip.grab(); // loads fonts
    QElapsedTimer timer;
    timer.start();
    strip.grab();
    qInfo("painting 100,000 marks took %lld ms", static_cast<long long>(timer.elapsed()));
    QVERIFY(timer.elapsed() < 500);
    strip.nextDifferenceAction()->trigger();
    QCOMPARE(*context.step, Step(54'321));
}

void TestWidgetViews::stripSaysThePrecisionOfTheMetric()
{
    FakeViewContext context;
    fillLikeSamples(context);
    StepStrip strip(&context);
    QCOMPARE(strip.metricSummary(), QStringLiteral("0 at all 12 common steps (every bit known)"));
    context.sides[1].metrics[0].points[2].value += 0.5;
    context.setSide(Side::B, context.sides[1]);
    QVERIFY(strip.metricSummary().startsWith(
        QStringLiteral("first differs at step 3, largest |B−A| 0.5")));
}

void TestWidgetViews::listFiltersSelectsAndSwitches()
{
    FakeViewContext context;
    fillLikeSamples(context);
    TensorList list(&context);
    list.resize(600, 500);
    auto *views = list.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QCOMPARE(views->model()->rowCount(), 50);
    QLabel *counts = nullptr;
    for (QLabel *label : list.findChildren<QLabel *>()) {
        if (!counts && label->text().contains(QStringLiteral("differ")))
            counts = label;
    }
    QVERIFY(counts);
    QCOMPARE(counts->text(), QStringLiteral("step 12 · 38 of 50 differ"));
    list.onlyDifferingAction()->setChecked(true);
    QCOMPARE(views->model()->rowCount(), 38);
    QCOMPARE(counts->text(), QStringLiteral("step 12 · 38 of 50 differ · 38 shown"));
    list.findChild<QLineEdit *>()->setText(QStringLiteral("qkv"));
    QCOMPARE(views->model()->rowCount(), 12);
    views->setCurrentIndex(views->model()->index(0, 1));
    QVERIFY(context.tensor);
    QCOMPARE(context.checkpointComparison->tensors[*context.tensor].name,
             std::string("model.layers.0.qkv.bias"));
    // A new snapshot of the same comparison selects nothing else.
    const auto calls = context.calls.size();
    context.setStep(std::make_shared<CheckpointComparison>(*context.checkpointComparison), 12);
    QCOMPARE(context.calls.size(), calls);
    QVERIFY(list.showItem(QStringLiteral("optimizer.state.0.exp_avg")));
    QCOMPARE(context.checkpointComparison->tensors[*context.tensor].name,
             std::string("optimizer.state.0.exp_avg"));
    QVERIFY(!list.showItem(QStringLiteral("no such name")));
    list.showRecipe();
    QVERIFY(counts->text().startsWith(QStringLiteral("step 12 · 1 of 5 differ · 1 shown")));
}

void TestWidgetViews::bannerNamesTheSideThatFailed()
{
    FakeViewContext context;
    VerdictBanner banner(&context);
    SideState failed, open;
    failed.phase = SideState::Phase::Failed;
    failed.path = failed.error = QStringLiteral("nosuch: cannot be opened");
    open.phase = SideState::Phase::Open;
    context.setSide(Side::B, open);
    context.setSide(Side::A, failed);
    QVERIFY(banner.plainText().contains(QStringLiteral("A could not be opened: nosuch: cannot")));
    QVERIFY(!banner.plainText().contains(QStringLiteral("Opening")));
    failed.error = QStringLiteral("empty: holds no checkpoint");
    context.setSide(Side::B, failed); // both: neither hides the other
    QVERIFY(banner.plainText().contains(QStringLiteral("A could not be opened: nosuch")));
    QVERIFY(banner.plainText().contains(QStringLiteral("B could not be opened: empty")));
    JobState job;
    job.phase = JobState::Phase::Cancelled; // which is why they failed
    context.setJob(job);
    QVERIFY(banner.plainText().contains(QStringLiteral("Cancelled before anything was compared")));
    QVERIFY(!banner.plainText().contains(QStringLiteral("could not be opened")));
}

void TestWidgetViews::selectionIsQuietOnAnyDesktop()
{
    // WCAG's contrast of the colours that tables paint on a selected row, on saturated accents.
    const auto luminance = [](const QColor &color) {
        const auto linear = [](double part) {
            return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF())
            + 0.0722 * linear(color.blueF());
    };
    const auto contrast = [&](const QColor &a, const QColor &b) {
        const double x = luminance(a), y = luminance(b);
        return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
    };
    for (QPalette palette : {lightPalette(), darkPalette()}) {
        for (const QColor &accent : {QColor(0x30, 0x8c, 0xc6), QColor(0xe9, 0x54, 0x20),
                                     QColor(0x2a, 0x82, 0xda), QColor(0x00, 0x00, 0x80)}) {
            palette.setColor(QPalette::Highlight, accent);
            const Theme theme = Theme::of(palette);
            const QColor selected = quietSelection(palette).color(QPalette::Highlight);
            for (const QColor &text : {theme.text, theme.a, theme.b, theme.difference})
                QVERIFY2(contrast(text, selected) >= 2.3, qPrintable(text.name() + accent.name()));
        }
    }
}

void TestWidgetViews::listSaysWhyItIsEmpty()
{
    FakeViewContext context;
    TensorList list(&context);
    const auto says = [&](const QString &text) {
        const auto labels = list.findChildren<QLabel *>();
        return std::any_of(labels.begin(), labels.end(),
                           [&](QLabel *label) { return label->text().contains(text); });
    };
    QVERIFY(says(QStringLiteral("Open a checkpoint")));
    JobState failed;
    failed.phase = JobState::Phase::Failed;
    failed.error = QStringLiteral("broken");
    context.setJob(failed);
    QVERIFY(says(QStringLiteral("Not compared: broken")));
    context.sides[0].phase = context.sides[1].phase = SideState::Phase::Failed;
    context.setJob(failed);
    QVERIFY(says(QStringLiteral("Nothing to list: A and B could not be opened.")));
    context.sides[0].phase = context.sides[1].phase = SideState::Phase::Open;
    context.setStep(makeComparison({identicalRow("a", {{1}})}, {}), std::nullopt);
    list.onlyDifferingAction()->setChecked(true);
    QVERIFY(says(QStringLiteral("Nothing differs here.")));
}

/// One copy of several was counted, and the row is in doubt because of the others.
void TestWidgetViews::detailOfUnlikeCopiesSaysWhyBeforeWhatIsEqual()
{
    FakeViewContext context;
    TensorRow row = differingRow("w", {{8}}, 1, 1.0, 1);
    auto stats = std::make_shared<DiffStats>(*row.stats);
    stats->differentElements = 0;
    row.stats = stats;
    row.status = ItemStatus::NotCompared;
    row.reason = "one copy is equal; A: rank 1 | rank 3";
    selectOne(context, row);
    TensorDetail detail(&context);
    const QString text = detail.summary();
    QVERIFY2(text.contains(QStringLiteral("not compared: one copy is equal; A: rank 1 | rank 3 · "
                                          "counted: 0 of 8 elements differ (0 %)")),
             qPrintable(text));
}

void TestWidgetViews::detailSummarisesAndPlots()
{
    FakeViewContext context;
    selectOne(context, differingRow("model.layers.0.fc1.weight", {{96, 24}}, 632, 2.98e-8, 1280));
    TensorDetail detail(&context);
    const QString text = detail.summary();
    QVERIFY2(text.contains(QStringLiteral("≠ model.layers.0.fc1.weight float32 [96, 24] · step 1")),
             qPrintable(text));
    QVERIFY(text.contains(QStringLiteral("632 of 2,304 elements differ (27.4 %)")));
    QVERIFY(text.contains(
        QStringLiteral("max |B−A| 2.98e-08 · max ULP 1,280 · no\u00a0NaN, no\u00a0Inf")));
    auto *plot = detail.findChild<HistogramPlot *>();
    const auto bins = plot->drawnBins(2); // |B−A|: 1,672 equal pairs in the bin of zero
    QCOMPARE(bins.front().first, plot->zeroPosition());
    QCOMPARE(bins.front().second, std::uint64_t(2304 - 632));
    QCOMPARE(bins.size(), std::size_t(7));
    const auto *bars =
        qobject_cast<const QCPBars *>(plot->findChild<QCustomPlot *>()->plottable(2));
    QVERIFY(bars); // drawn up to its count, whatever it stands on
    QCOMPARE(bars->baseValue() + bars->data()->at(0)->value, double(bins.front().second));
    TensorRow onlyA = identicalRow("x", {{3}});
    onlyA.b.reset();
    onlyA.status = ItemStatus::OnlyInA;
    selectOne(context, onlyA);
    Q_EMIT context.stepComparisonChanged();
    QVERIFY(detail.summary().contains(QStringLiteral("only in A")));
}

void TestWidgetViews::elementsScrollTenBillionRows()
{
    FakeViewContext context;
    selectOne(context, differingRow("big", {{100'000, 100'000}}, 5, 1.0, 1));
    ElementView view(&context);
    view.resize(700, 400);
    view.show();
    view.setOrder(ElementOrder::ByIndex);
    QCOMPARE(view.rowCount(), TenBillion);
    QTest::keyClick(&view, Qt::Key_End);
    QCOMPARE(view.currentRow(), TenBillion - 1);
    QVERIFY(view.firstVisibleRow() < TenBillion - 1);
    QVERIFY(view.firstVisibleRow() > TenBillion - 40);
    const ElementRequest request = context.elementRequests.back();
    QVERIFY(request.query.count <= 512);
    QVERIFY(request.query.offset + request.query.count == TenBillion);
    context.answer(request.id, pageFor(request.query));
    QCOMPARE(view.rowTexts(TenBillion - 1).first(), QStringLiteral("[99999, 99999]"));
    QTest::keyClick(&view, Qt::Key_Up);
    QCOMPARE(view.currentRow(), TenBillion - 2);
    view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum() / 2);
    QVERIFY(view.firstVisibleRow() > TenBillion / 2 - 100'000'000);
    QVERIFY(view.firstVisibleRow() < TenBillion / 2 + 100'000'000);
    view.goToIndex(1'234'567'890ULL);
    QCOMPARE(view.currentRow(), 1'234'567'890ULL);
    view.grab();
}

void TestWidgetViews::elementsSayLoadingAndFailed()
{
    FakeViewContext context;
    selectOne(context, differingRow("t", {{1000}}, 600, 1.0, 1));
    ElementView view(&context);
    view.resize(700, 400);
    view.show();
    QCOMPARE(view.rowCount(), std::uint64_t(600)); // largest first: the differing ones
    QCOMPARE(view.rowTexts(0), QStringList{QStringLiteral("loading…")});
    QCOMPARE(context.elementRequests.back().query.order, ElementOrder::Largest);
    Q_EMIT context.requestFailed(context.elementRequests.back().id, QStringLiteral("EIO"));
    QCOMPARE(view.rowTexts(0), QStringList{QStringLiteral("not read: EIO")});
    view.setOrder(ElementOrder::Differing);
    const ElementRequest request = context.elementRequests.back();
    context.answer(request.id, pageFor(request.query));
    const QStringList texts = view.rowTexts(3);
    QCOMPARE(texts[0], QStringLiteral("[3]"));
    QCOMPARE(texts[1], QStringLiteral("1"));
    QCOMPARE(texts[2], QStringLiteral("1.5"));
    QCOMPARE(texts[3], QStringLiteral("+0.5"));
    QCOMPARE(texts[4], QStringLiteral("4194304")); // 0x3fc00000 - 0x3f800000
    QCOMPARE(texts[5], QStringLiteral("0 01111111 10000000000000000000000"));
}

void TestWidgetViews::elementsIgnoreAnswersOfAnotherTensor()
{
    FakeViewContext context;
    selectOne(context, differingRow("first", {{100}}, 50, 1.0, 1));
    ElementView view(&context);
    view.resize(700, 400);
    view.show();
    const ElementRequest old = context.elementRequests.back();
    selectOne(context, differingRow("second", {{100}}, 50, 1.0, 1));
    Q_EMIT context.selectedTensorChanged();
    context.answer(old.id, pageFor(old.query));
    QCOMPARE(view.rowTexts(0), QStringList{QStringLiteral("loading…")});
    QVERIFY(context.elementRequests.back().id != old.id);
}

void TestWidgetViews::elementsJumpByIndexAndDifference()
{
    FakeViewContext context;
    selectOne(context, differingRow("t", {{1000}}, 2, 1.0, 1));
    ElementView view(&context);
    view.resize(700, 400);
    view.show();
    view.goToIndex(10);
    QCOMPARE(view.order(), ElementOrder::ByIndex);
    view.nextDifferenceAction()->trigger();
    QCOMPARE(context.differenceRequests.back().from, Index(11));
    Q_EMIT context.nextDifferenceReady(context.differenceRequests.back().id, Index(700));
    QCOMPARE(view.currentRow(), std::uint64_t(700));
    view.previousDifferenceAction()->trigger();
    QVERIFY(context.differenceRequests.back().backward);
    QCOMPARE(context.differenceRequests.back().from, Index(700));
    QSignalSpy messages(&view, &ElementView::message);
    Q_EMIT context.nextDifferenceReady(context.differenceRequests.back().id, std::nullopt);
    QCOMPARE(messages.count(), 1);
    QCOMPARE(view.currentRow(), std::uint64_t(700));
}

void TestWidgetViews::elementsCopyRowsThatWereNeverInView()
{
    FakeViewContext context;
    selectOne(context, differingRow("t", {{5000}}, 5000, 1.0, 1));
    ElementView view(&context);
    view.resize(700, 400);
    view.show();
    view.setOrder(ElementOrder::ByIndex);
    view.setCurrentRow(0);
    view.setCurrentRow(2999, true);
    for (QAction *action : view.actions()) {
        if (action->shortcut() == QKeySequence(QKeySequence::Copy))
            action->trigger();
    }
    const ElementRequest request = context.elementRequests.back();
    QCOMPARE(request.query.offset, Index(0));
    QCOMPARE(request.query.count, std::size_t(3000));
    context.answer(request.id, pageFor(request.query));
    const QStringList lines = QGuiApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 3001);
    QVERIFY(lines[3000].startsWith(QStringLiteral("2999\t[2999]\t1\t1.5\t+0.5\t4194304\t")));
}

void TestWidgetViews::statusShowsProgressAndCancels()
{
    FakeViewContext context;
    fillLikeSamples(context);
    JobStatus status(&context);
    status.show();
    auto *cancel = status.findChild<QToolButton *>(QStringLiteral("cancel"));
    QVERIFY(!cancel->isVisible());
    JobState job;
    job.phase = JobState::Phase::Running;
    job.progress = {"comparing step 8", "w", 400'000, 1'100'000, 1, 2};
    job.bytesPerSecond = 2.4e8;
    context.setJob(job);
    QVERIFY(cancel->isVisible());
    const auto labels = status.findChildren<QLabel *>();
    const QString expected =
        QStringLiteral("comparing step 8 · w · 400.0 kB of 1.1 MB · 240.0 MB/s");
    QVERIFY(std::any_of(labels.begin(), labels.end(),
                        [&](QLabel *label) { return label->text() == expected; }));
    cancel->click();
    QCOMPARE(context.calls.last(), QStringLiteral("cancelJob"));
    QCOMPARE(status.findChild<QToolButton *>(QStringLiteral("findings"))->text(),
             QStringLiteral("1 finding"));
    QSignalSpy problems(&status, &JobStatus::problemsRequested);
    status.findChild<QToolButton *>(QStringLiteral("problems"))->click();
    QCOMPARE(problems.count(), 1);
}

void TestWidgetViews::docksListAndLead()
{
    FakeViewContext context;
    fillLikeSamples(context);
    const std::unique_ptr<RemarkDock> findings(RemarkDock::findings(&context));
    auto *view = findings->findChild<QTreeView *>();
    QCOMPARE(view->model()->rowCount(), 1);
    QSignalSpy requested(findings.get(), &RemarkDock::itemRequested);
    Q_EMIT view->activated(view->model()->index(0, 2));
    QCOMPARE(requested.count(), 1);
    QCOMPARE(requested[0][0].toString(), QStringLiteral("args.accumulate"));
    const std::unique_ptr<RemarkDock> problems(RemarkDock::problems(&context));
    SideState state = context.sides[0];
    state.diagnostics = {{Severity::Error, "truncated", "a.pt", "byte 80", "ends at byte 90"}};
    context.setSide(Side::A, state);
    context.setSide(Side::B, state);
    const auto *rows = problems->findChild<QTreeView *>()->model();
    QCOMPARE(rows->rowCount(), 2); // one of each side, told apart
    QVERIFY(rows->index(0, 2).data().toString().startsWith(u"A, "));
    QVERIFY(rows->index(1, 2).data().toString().startsWith(u"B, "));
}

void TestWidgetViews::welcomeOpensSamplesAndRecent()
{
    FakeViewContext context;
    fillLikeSamples(context);
    Welcome welcome(&context);
    for (QToolButton *button : welcome.findChildren<QToolButton *>())
        button->click();
    QVERIFY(context.calls.contains(QStringLiteral("openPair samples/A samples/C")));
    QVERIFY(context.calls.contains(QStringLiteral("openPair /data/run1 /data/run2")));
}

void TestWidgetViews::recentPairsAreToldApart()
{
    FakeViewContext context;
    const QString names(60, u'p'), folder = u'/' + names + u'/' + names + u'/';
    context.recent = {folder + "one/out/final\n" + folder + "two/out/final",
                      folder + "one/out/final\n" + folder + "six/out/final"};
    Welcome welcome(&context);
    const QList<PairButton *> buttons = welcome.findChildren<PairButton *>();
    QCOMPARE(buttons.size(), 2);
    QCOMPARE(buttons[0]->pair(),
             PairText({QStringLiteral("…/one/out/final"), QStringLiteral("…/two/out/final")}));
    QCOMPARE(buttons[1]->pair().b, QStringLiteral("…/six/out/final"));
    QVERIFY(buttons[1]->toolTip().contains(folder + "six/out/final"));
    context.recent = {"/" + QString(4096, u'a') + "\n/" + QString(4096, u'b')};
    welcome.refresh();
    QVERIFY(welcome.minimumSizeHint().width() < 1000); // whatever the names are
}

void TestWidgetViews::everyControlHasAName()
{
    FakeViewContext context;
    fillLikeSamples(context);
    context.tensor = 0;
    SideChips chips(&context);
    StepStrip strip(&context);
    TensorList list(&context);
    TensorDetail detail(&context);
    JobStatus status(&context);
    for (QWidget *view : {static_cast<QWidget *>(&chips), static_cast<QWidget *>(&strip),
                          static_cast<QWidget *>(&list), static_cast<QWidget *>(&detail),
                          static_cast<QWidget *>(&status)}) {
        for (QWidget *widget : view->findChildren<QWidget *>()) {
            const bool control = qobject_cast<QAbstractButton *>(widget)
                || qobject_cast<QTreeView *>(widget) || qobject_cast<ElementView *>(widget);
            if (!control || widget->objectName().startsWith(QLatin1String("qt_"))
                || qobject_cast<QTreeView *>(widget->parentWidget())
                || widget->objectName().startsWith(QLatin1String("Scroll")))
                continue;
            const auto *button = qobject_cast<QAbstractButton *>(widget);
            const bool named =
                !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
            // Scroll buttons of tab bars and the clear button of a line edit name themselves.
            if (widget->parentWidget()->inherits("QTabBar")
                || widget->parentWidget()->inherits("QLineEdit"))
                continue;
            QVERIFY2(named, widget->metaObject()->className());
        }
    }
}

FP_WIDGET_TEST_MAIN(TestWidgetViews)
#include "tst_widget_views.moc"
