// SPDX-License-Identifier: GPL-3.0-or-later
// The step strip at any scale: its pyramids against a walk over every mark, and ten million marks.
#include "support/fake_view_context.h"
#include "widgets/metric_deltas.h"
#include "widgets/step_pyramid.h"
#include "widgets/views/path_dialog.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/timeline_lanes.h"
#include "widgets/widget_test_main.h"

#include <QAction>
#include <QPainter>
#include <QSignalSpy>
#include <QXmlStreamReader>

#include <ctime>
#include <random>

using namespace forkpoint;

namespace {

constexpr StepStatus Statuses[] = {
    StepStatus::Identical, StepStatus::Pending,   StepStatus::OnlyInB,
    StepStatus::OnlyInA,   StepStatus::Undecided, StepStatus::Different}; ///< the most telling last

std::size_t rankOf(StepStatus status)
{
    return std::size_t(std::find(std::begin(Statuses), std::end(Statuses), status)
                       - std::begin(Statuses));
}

} // namespace

class TestStepStrip : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pyramidAgreesWithAWalk();
    void deltasAgreeWithAWalk();
    void keyboardZoomsAndPans();
    void timelineOfTracesIsShownAndSelected();
    void rowsOfTheTimelineAreChosen();
    void stepsOfOneTraceAreFramed();
    void isSavedAsPicture();
    void tenMillionMarksPan();
};

void TestStepStrip::pyramidAgreesWithAWalk()
{
    std::mt19937 random(5);
    for (const std::size_t count : {1u, 2u, 3u, 7u, 64u, 65u, 1000u}) {
        std::vector<StepMark> marks;
        for (std::size_t i = 0; i < count; ++i)
            marks.push_back({Step(i), Statuses[random() % 20 == 0 ? random() % 6 : 0], 0, {}});
        const StepPyramid pyramid(marks);
        for (int trial = 0; trial < 200; ++trial) {
            const std::size_t first = random() % count;
            const std::size_t end = first + 1 + random() % (count - first);
            std::size_t worst = 0;
            for (std::size_t i = first; i < end; ++i)
                worst = std::max(worst, rankOf(marks[i].status));
            QCOMPARE(rankOf(pyramid.worst(first, end)), worst);
            for (const StepStatus status : {StepStatus::Different, StepStatus::Identical}) {
                std::optional<std::size_t> next, previous;
                for (std::size_t i = count; i-- > first;)
                    next = marks[i].status == status ? i : next;
                for (std::size_t i = 0; i < first; ++i)
                    previous = marks[i].status == status ? i : previous;
                QCOMPARE(pyramid.next(first, status), next);
                QCOMPARE(pyramid.previous(first, status), previous);
            }
        }
    }
}

void TestStepStrip::deltasAgreeWithAWalk()
{
    std::mt19937 random(6);
    for (const int count : {1, 15, 16, 17, 256, 257, 5000}) {
        MetricSeries a, b;
        for (int step = 0; step < count; ++step) {
            a.points.push_back({step, 1.0});
            const double noise = random() % 4 == 0 ? double(random() % 100) - 50 : 0.0;
            if (random() % 10 != 0)
                b.points.push_back({step, 1.0 + noise});
        }
        const MetricDeltas deltas(a, b);
        const auto &points = deltas.points();
        QCOMPARE(points.size(), b.points.size());
        for (int trial = 0; trial < 100 && !points.empty(); ++trial) {
            const std::size_t first = random() % points.size();
            const std::size_t end = first + 1 + random() % (points.size() - first);
            double least = points[first].delta, most = least;
            bool differ = false;
            for (std::size_t i = first; i < end; ++i) {
                least = std::min(least, points[i].delta);
                most = std::max(most, points[i].delta);
                differ = differ || points[i].bitsDiffer;
            }
            const auto extremes = deltas.over(first, end);
            QCOMPARE(extremes.least, least);
            QCOMPARE(extremes.most, most);
            QCOMPARE(extremes.bitsDiffer, differ);
        }
    }
}

void TestStepStrip::keyboardZoomsAndPans()
{
    FakeViewContext context;
    auto runs = std::make_shared<RunComparison>();
    for (Step step = 0; step < 1000; ++step)
        runs->steps.push_back({step, StepStatus::Identical, 0, {}});
    context.runComparison = runs;
    context.step = 500;
    StepStrip strip(&context);
    strip.resize(1000, strip.sizeHint().height());
    const auto shown = [&] {
        const auto columns = strip.columns();
        return std::pair(columns.front().first, columns.back().last);
    };
    QCOMPARE(shown(), std::pair(std::size_t(0), std::size_t(999)));
    for (int i = 0; i < 12; ++i)
        QTest::keyClick(&strip, Qt::Key_Plus);
    const auto close = shown();
    QVERIFY(close.first > 400 && close.second < 600); // around the selected step
    QTest::keyClick(&strip, Qt::Key_Right, Qt::ControlModifier);
    QVERIFY(shown().first > close.first);
    strip.zoomToFitAction()->trigger();
    QCOMPARE(shown(), std::pair(std::size_t(0), std::size_t(999)));
}

// Two runs with a trace of steps 1 to 40 and a checkpoint at 20; they part in the batch of step 30.
void TestStepStrip::timelineOfTracesIsShownAndSelected()
{
    FakeViewContext context;
    auto runs = std::make_shared<RunComparison>();
    runs->trace = std::make_shared<const TraceComparison>();
    runs->finished = true;
    for (Step step = 1; step <= 40; ++step) {
        const bool differs = step >= 30;
        StepMark mark{step, differs ? StepStatus::Different : StepStatus::Identical, 0, {}};
        mark.lane = StepLane::Trace;
        runs->steps.push_back(mark);
        for (const char *stage : {"batch", "forward", "weight"}) {
            ChainLink link;
            link.step = step;
            link.stage = stage;
            link.status = differs ? LinkStatus::Different : LinkStatus::Equal;
            link.compared = 8;
            link.different = differs ? 2 : 0;
            link.strength = Strength::Sha256;
            runs->chain.push_back(link);
        }
    }
    StepMark checkpoint{20, StepStatus::Identical, 0, {}};
    runs->steps.insert(runs->steps.begin() + 20, checkpoint);
    runs->firstDivergence.emplace();
    runs->firstDivergence->step = 30;
    runs->firstDivergence->stage = "batch";
    context.runComparison = runs;
    StepStrip strip(&context);
    strip.resize(1000, strip.sizeHint().height());
    strip.grab(); // a hidden widget hears of its size when it is drawn
    QCOMPARE(strip.timeline().rows(), (std::vector<std::string>{"batch", "forward", "weight"}));
    QCOMPARE(strip.columns().size(),
             std::size_t(0)); // it opens at 28 to 33, the checkpoint is before
    strip.nextDifferenceAction()->trigger();
    QCOMPARE(context.calls.last(), QStringLiteral("selectStep 30"));
    QSignalSpy chosen(&strip, &StepStrip::cellChosen), activated(&strip, &StepStrip::cellActivated);
    const QPoint last(985 - 40, 12); // right: the last steps shown
    QTest::mouseClick(&strip, Qt::LeftButton, {}, last);
    QCOMPARE(context.calls.last(), QStringLiteral("selectStep 33"));
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen[0][0].value<std::int64_t>(), std::int64_t(33));
    QCOMPARE(chosen[0][1].value<std::string>(), std::string("batch"));
    QTest::mouseDClick(&strip, Qt::LeftButton, {}, last);
    QCOMPARE(activated.size(), 1);
    strip.zoomToFitAction()->trigger();
    QCOMPARE(strip.columns().size(), std::size_t(1)); // of the lane of checkpoints
    QVERIFY(!strip.grab().isNull());
}

// A trace of steps 1 to 6 against one of steps 4 to 6: what is before is said to be A's alone.
void TestStepStrip::stepsOfOneTraceAreFramed()
{
    std::vector<ChainLink> links;
    for (const Step step : {4, 5, 6})
        links.push_back({step, "forward", LinkStatus::Equal, 8, 0, Strength::Sha256});
    StepAxis axis;
    axis.setExtent(1, 6);
    axis.setPixels(50, 500);
    const QRect area(50, 0, 500, 40);
    const auto painted = [&](const TimelineLanes &lanes) {
        QImage image(600, 40, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        lanes.paint(painter, area, axis, QPalette(), std::nullopt);
        return image;
    };
    TimelineLanes without, with;
    without.setTimeline(Timeline(links), std::nullopt);
    with.setTimeline(Timeline(links), std::nullopt,
                     {{1, StepStatus::OnlyInA}, {2, StepStatus::OnlyInA}});
    const QImage before = painted(without), after = painted(with);
    const auto around = [&](const QImage &image, int step) {
        return image.copy(int(axis.xOf(step)) - 40, 0, 80, 40);
    };
    for (const int step : {1, 2})
        QVERIFY2(around(before, step) != around(after, step), qPrintable(QString::number(step)));
    for (const int step : {3, 4, 5, 6})
        QVERIFY2(around(before, step) == around(after, step), qPrintable(QString::number(step)));
    const auto tip = [&](int step) {
        return with.toolTipAt(QPoint(int(axis.xOf(step)), 10), area, axis);
    };
    QCOMPARE(tip(2), QStringLiteral("step 2: only in A"));
    QVERIFY(tip(4).startsWith(QStringLiteral("step 4, forward: 8 values compared")));
}

// Three ranks of steps 1 and 2: ranks 0 and 2 differ at step 2, rank 1 does not.
void TestStepStrip::rowsOfTheTimelineAreChosen()
{
    FakeViewContext context;
    auto trace = std::make_shared<TraceComparison>();
    for (int number = 0; number < 3; ++number) {
        RankComparison rank;
        rank.coordinate.rank = number;
        rank.links = {{1, {}, LinkStatus::Equal, 5, 0, Strength::Sha256},
                      {2, {}, LinkStatus::Equal, 5, 0, Strength::Sha256}};
        if (number != 1) {
            rank.links[1].status = LinkStatus::Different;
            rank.links[1].different = 4;
            rank.first.emplace();
        }
        trace->ranks.push_back(rank);
    }
    trace->firstRank = 2;
    trace->microBatches = {{0, trace->ranks[0].links}, {1, trace->ranks[1].links}};
    auto runs = std::make_shared<RunComparison>();
    runs->trace = trace;
    runs->finished = true;
    for (const Step step : {1, 2}) {
        StepMark mark{step, step == 2 ? StepStatus::Different : StepStatus::Identical, 0, {}};
        mark.lane = StepLane::Trace;
        runs->steps.push_back(mark);
        runs->chain.push_back({step, "op", LinkStatus::Different, 15, 8, Strength::Sha256});
    }
    runs->firstDivergence.emplace();
    runs->firstDivergence->step = 2;
    context.runComparison = runs;
    StepStrip strip(&context);
    QVERIFY(strip.showRows(StepStrip::Rows::Ranks));
    QCOMPARE(strip.timeline().rows(),
             (std::vector<std::string>{"ranks 0, 2 (unclassified)", "rank 1"}));
    QCOMPARE(strip.timeline().over(0, 1, 2).different, std::uint64_t(8));
    strip.resize(1000, strip.sizeHint().height());
    strip.grab();
    QSignalSpy ranks(&strip, &StepStrip::rankChosen), cells(&strip, &StepStrip::cellChosen);
    QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(960, 12)); // right: step 2, first row
    QCOMPARE(context.calls.last(), QStringLiteral("selectStep 2"));
    QCOMPARE(ranks.size(), 1);
    QCOMPARE(ranks[0][1].value<std::size_t>(), std::size_t(0));

    QVERIFY(strip.showRows(StepStrip::Rows::MicroBatches));
    QCOMPARE(strip.timeline().rows(), (std::vector<std::string>{"micro-batch 0", "micro-batch 1"}));
    QSignalSpy batches(&strip, &StepStrip::microBatchChosen);
    QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(960, 12 + strip.fontMetrics().height()));
    QCOMPARE(batches.size(), 1);
    QCOMPARE(batches[0][1].value<std::int64_t>(), std::int64_t(1));
    QCOMPARE(cells.size(), 0);

    context.runComparison = nullptr; // another pair without any of it
    Q_EMIT context.comparisonChanged();
    QVERIFY(strip.rows() == StepStrip::Rows::Stages);
    QVERIFY(!strip.showRows(StepStrip::Rows::Ranks));
}

void TestStepStrip::isSavedAsPicture()
{
    FakeViewContext context;
    auto runs = std::make_shared<RunComparison>();
    runs->steps = {{4, StepStatus::Identical, 0, {}}, {8, StepStatus::Different, 3, {}}};
    context.runComparison = runs;
    StepStrip strip(&context);
    strip.resize(1000, strip.sizeHint().height());
    strip.grab();
    const QImage png = QImage::fromData(strip.picture(QStringLiteral("png")), "PNG");
    QCOMPARE(png.size(), strip.size() * 2);

    QXmlStreamReader svg(strip.picture(QStringLiteral("svg")));
    QStringList texts;
    while (!svg.atEnd()) {
        if (svg.readNext() == QXmlStreamReader::Characters && !svg.text().trimmed().isEmpty())
            texts += svg.text().trimmed().toString();
    }
    QVERIFY2(!svg.hasError(), qPrintable(svg.errorString()));
    for (const char *text : {"checkpoints", "=", "≠", "step", "4", "8"})
        QVERIFY2(texts.contains(QString::fromUtf8(text)), text);

    const QList<QAction *> actions = strip.actions();
    const auto save = std::find_if(actions.begin(), actions.end(), [](const QAction *action) {
        return action->text().contains(QStringLiteral("SVG"));
    });
    QVERIFY(save != actions.end());
    (*save)->trigger();
    auto *dialog = strip.findChild<PathDialog *>();
    QVERIFY(dialog);
    Q_EMIT dialog->pathChosen(QStringLiteral("/home/user/steps.svg"));
    QCOMPARE(context.saved.size(), 1);
    QCOMPARE(context.saved[0].first, QStringLiteral("/home/user/steps.svg"));
    QVERIFY(context.saved[0].second.contains("<svg"));
}

void TestStepStrip::tenMillionMarksPan()
{
    constexpr Step TenMillion = 10'000'000;
    FakeViewContext context;
    auto runs = std::make_shared<RunComparison>();
    runs->steps.reserve(std::size_t(TenMillion));
    for (Step step = 0; step < TenMillion; ++step)
        runs->steps.push_back(
            {step, step == 7'654'321 ? StepStatus::Different : StepStatus::Identical, 0, {}});
    context.runComparison = runs;
    MetricSeries loss;
    loss.name = "loss";
    for (Step step = 0; step < TenMillion; ++step)
        loss.points.push_back({step, double(step % 1000)});
    for (SideState &side : context.sides) {
        side.phase = SideState::Phase::Open;
        side.metrics = {loss};
    }
    context.sides[1].metrics[0].points[1'234'567].value += 0.5;
    loss.points = {};
    StepStrip strip(&context);
    strip.resize(2400, strip.sizeHint().height());
    strip.grab(); // loads fonts
    QImage canvas(strip.size(), QImage::Format_ARGB32_Premultiplied);

    const auto differing = [&] {
        const auto columns = strip.columns();
        return std::count_if(columns.begin(), columns.end(), [](const auto &column) {
            return column.status == StepStatus::Different;
        });
    };
    QCOMPARE(differing(), 1); // one in ten million is seen
    for (const int closer : {0, 10, 30}) {
        strip.zoomToFitAction()->trigger();
        for (int i = 0; i < closer; ++i)
            QTest::keyClick(&strip, Qt::Key_Plus);
        constexpr int Frames = 20;
        double worst = 0, sum = 0;
        for (int frame = 0; frame < Frames; ++frame) {
            const std::clock_t start = std::clock(); // of this process alone, on a busy machine too
            QTest::keyClick(&strip, frame % 2 ? Qt::Key_Left : Qt::Key_Right, Qt::ControlModifier);
            strip.render(&canvas);
            const double took = double(std::clock() - start) * 1000 / CLOCKS_PER_SEC;
            worst = std::max(worst, took);
            sum += took;
        }
        qInfo("a frame over 10,000,000 marks and metrics, %d times closer: %.1f ms of processor "
              "time, worst %.1f ms",
              closer, sum / Frames, worst);
        QVERIFY(sum / Frames < 80); // five times what a frame may take, for slow machines
    }
    context.step = 0;
    strip.nextDifferenceAction()->trigger();
    QCOMPARE(*context.step, Step(7'654'321));
}

FP_WIDGET_TEST_MAIN(TestStepStrip)
#include "tst_step_strip.moc"
