// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/step_strip.h"

#include "widgets/display_text.h"
#include "widgets/plot/picture.h"
#include "widgets/views/saving.h"
#include "widgets/views/shown_lists.h"
#include "widgets/views/step_strip_sizes.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QResizeEvent>

#include <algorithm>
#include <cmath>

namespace forkpoint {

using namespace step_strip;

namespace {

constexpr int MostLabel = 30; ///< characters of a metric's name before it is elided

const MetricSeries *seriesNamed(const SideState &side, const std::string &name)
{
    for (const MetricSeries &series : side.metrics) {
        if (series.name == name)
            return &series;
    }
    return nullptr;
}

/// The steps that one side has while it is alone; null where there is nothing to choose from.
std::shared_ptr<const RunComparison> stepsOfTheOnlySide(const ViewContext &context)
{
    if (!isOneSideAlone(context))
        return nullptr;
    const bool isA = context.side(Side::A).phase == SideState::Phase::Open;
    const bool isOtherComing =
        context.side(isA ? Side::B : Side::A).phase == SideState::Phase::Opening;
    const StepStatus alone = isA ? StepStatus::OnlyInA : StepStatus::OnlyInB;
    auto steps = std::make_shared<RunComparison>();
    for (const RunStep &step : context.side(isA ? Side::A : Side::B).steps) {
        if (step.step)
            steps->steps.push_back(
                {*step.step, isOtherComing ? StepStatus::Pending : alone, 0, {}});
    }
    return steps;
}

/// Checkpoint and trace of one step are one place to stop at: different where either is.
std::shared_ptr<const std::vector<StepMark>> onePerStep(const std::vector<StepMark> &all)
{
    auto result = std::make_shared<std::vector<StepMark>>();
    for (const StepMark &mark : all) {
        if (result->empty() || result->back().step != mark.step)
            result->push_back(mark);
        else if (mark.status == StepStatus::Different)
            result->back().status = mark.status;
    }
    return result;
}

} // namespace

StepStrip::StepStrip(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_next(makeAction(this, tr("Next differing step"), Qt::Key_F8)),
      m_previous(makeAction(this, tr("Previous differing step"), Qt::SHIFT | Qt::Key_F8)),
      m_fit(makeAction(this, tr("Show all steps"), Qt::CTRL | Qt::Key_0))
{
    setObjectName(QStringLiteral("stepStrip"));
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Steps"));
    buildRows();
    measure();
    connect(m_next, &QAction::triggered, this, [this] { jump(false); });
    connect(m_previous, &QAction::triggered, this, [this] { jump(true); });
    connect(m_fit, &QAction::triggered, this, [this] {
        m_axis.fit();
        update();
    });
    addPictureMenu(
        this, [this](const QString &suffix) { return picture(suffix); },
        [this] {
            askToSavePicture(m_context, this, QStringLiteral("steps"),
                             [this](const QString &suffix) { return picture(suffix); });
        });
    connect(context, &ViewContext::comparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::selectedStepChanged, this, qOverload<>(&QWidget::update));
    refresh();
}

QSize StepStrip::sizeHint() const
{
    const bool steps = m_stops && m_stops->size() > 0;
    const int lanes = steps || !m_metric.isEmpty()
        ? metricHeight() + timelineHeight() + laneHeight() + fontMetrics().height()
        : fontMetrics().height() + 8;
    return {800, lanes + 2 * Padding};
}

QSize StepStrip::minimumSizeHint() const
{
    return {240, sizeHint().height()};
}

int StepStrip::metricHeight() const
{
    return m_metric.isEmpty() ? 0 : fontMetrics().height() * 2 + 10;
}

int StepStrip::laneHeight() const
{
    return m_lane && m_lane->size() > 0 ? MarkSize + 12 : 0;
}

void StepStrip::refresh()
{
    m_comparison = m_context->comparison();
    if (!m_comparison)
        m_comparison = stepsOfTheOnlySide(*m_context);
    refreshMetric();
    refreshMarks();
    const bool any = m_stops && m_stops->size() > 0;
    double lowest = 0, highest = 1;
    if (any) {
        lowest = double(m_stops->steps->front().step);
        highest = double(m_stops->steps->back().step);
    }
    if (!m_metric.isEmpty()) {
        const double first = double(m_metric.points().front().step);
        const double last = double(m_metric.points().back().step);
        lowest = any ? std::min(lowest, first) : first;
        highest = any ? std::max(highest, last) : last;
    }
    const bool differing = any && m_stops->pyramid.any(StepStatus::Different);
    m_next->setEnabled(differing);
    m_previous->setEnabled(differing);
    m_axis.setExtent(lowest, highest);
    refreshRows();
    openAtDivergence();
    measure();
    updateGeometry();
    update();
}

void StepStrip::refreshMarks()
{
    if (m_comparison && m_comparison == m_marked)
        return; // a timeline of many steps is not made anew for what it does not show
    m_marked = m_comparison;
    m_lane = m_stops = nullptr;
    m_timeline.setTimeline({}, {});
    m_rankRows.clear();
    m_batchRows.clear();
    if (!m_comparison)
        return;
    const auto &all = m_comparison->steps;
    // A report has the chain of its traces, not the traces.
    if (!m_comparison->trace && m_comparison->verdict.coverage.recordsTotal == 0) {
        m_lane = m_stops = std::make_shared<const Marks>(
            std::shared_ptr<const std::vector<StepMark>>(m_comparison, &all));
        return;
    }
    refreshTimeline();
    auto lane = std::make_shared<std::vector<StepMark>>();
    std::copy_if(all.begin(), all.end(), std::back_inserter(*lane),
                 [](const StepMark &mark) { return mark.lane == StepLane::Checkpoint; });
    m_lane = std::make_shared<const Marks>(std::move(lane));
    m_stops = std::make_shared<const Marks>(onePerStep(all));
}

/// After the fork nearly all is different: a long timeline opens where it begins.
void StepStrip::openAtDivergence()
{
    constexpr double Before = 2, After = 3, Wide = 24;
    if (m_timeline.isEmpty()) {
        m_openedAtDivergence = false;
        return;
    }
    const auto &first = m_comparison->firstDivergence;
    const auto &steps = m_timeline.timeline().steps();
    if (m_openedAtDivergence || !m_comparison->finished || !first || !first->step)
        return;
    m_openedAtDivergence = true;
    if (double(steps.size()) > Wide)
        m_axis.showRange(double(*first->step) - Before, double(*first->step) + After);
}

/// Which one of those that both sides have, or that a report has: what was chosen, else the loss,
/// else the first.
std::string StepStrip::metricToShow() const
{
    std::vector<std::string> names;
    const SideState b = m_context->side(Side::B);
    for (const MetricSeries &series : m_context->side(Side::A).metrics) {
        if (seriesNamed(b, series.name))
            names.push_back(series.name);
    }
    if (m_context->isReport() && m_comparison) {
        for (const MetricComparison &metric : m_comparison->metrics)
            names.push_back(metric.name);
    }
    for (const std::string &wanted : {m_chosenMetric.toStdString(), std::string("loss")}) {
        if (std::find(names.begin(), names.end(), wanted) != names.end())
            return wanted;
    }
    return names.empty() ? std::string() : names.front();
}

void StepStrip::refreshMetric()
{
    m_metric = {};
    m_metricName.clear();
    const std::string shown = metricToShow();
    const SideState sideA = m_context->side(Side::A), sideB = m_context->side(Side::B);
    const MetricSeries *a = seriesNamed(sideA, shown);
    const MetricSeries *b = seriesNamed(sideB, shown);
    if (a && b) {
        m_metricName = displayText(shown);
        m_metric = MetricDeltas(*a, *b);
        return;
    }
    if (!m_comparison || !m_context->isReport())
        return;
    for (const MetricComparison &metric : m_comparison->metrics) {
        if (metric.name != shown)
            continue;
        m_metricName = displayText(shown);
        m_metric = MetricDeltas(metric);
        return;
    }
}

void StepStrip::drawMetric(const QString &name)
{
    m_chosenMetric = name;
    refresh();
    if (m_comparison) {
        for (const MetricComparison &metric : m_comparison->metrics) {
            if (displayText(metric.name) == name && metric.firstProvenDifference)
                m_axis.show(double(*metric.firstProvenDifference));
        }
    }
    update();
}

QString StepStrip::metricSummary() const
{
    bool bitsKnown = true;
    if (m_comparison) {
        for (const MetricComparison &metric : m_comparison->metrics) {
            if (displayText(metric.name) == m_metricName)
                bitsKnown = metric.bitsKnown;
        }
    }
    return m_metric.summary(bitsKnown);
}

// --- geometry -------------------------------------------------------------------------------

/// Once a size and a font: every mark asks where it stands.
void StepStrip::measure()
{
    m_labelWidth = std::max(fontMetrics().horizontalAdvance(tr("checkpoints")) + 28,
                            m_timeline.labelWidth(fontMetrics()));
    const int most = fontMetrics().averageCharWidth() * MostLabel;
    m_labelWidth =
        std::max(m_labelWidth,
                 std::min(most, fontMetrics().horizontalAdvance(m_metricName + tr(" B−A")) + 28));
    const int row = fontMetrics().height() + 2;
    if (m_rowsButton->isVisibleTo(this)) {
        const int wanted = m_rowsButton->sizeHint().width();
        m_labelWidth = std::max(m_labelWidth, LabelLeft + wanted);
        m_rowsButton->setGeometry(LabelLeft - 6, height() - Padding - row, wanted, row);
    }
    const QRect area = plotArea();
    m_axis.setPixels(area.left(), area.width());
}

QRect StepStrip::plotArea() const
{
    return rect().adjusted(m_labelWidth, Padding, -RightMargin, -Padding);
}

QRect StepStrip::timelineArea() const
{
    const QRect area = plotArea();
    return {area.left(), area.top() + metricHeight(), area.width(), timelineHeight()};
}

StepStrip::Marks::Marks(std::shared_ptr<const std::vector<StepMark>> marks)
    : steps(std::move(marks)),
      pyramid(*steps)
{
}

std::size_t StepStrip::Marks::after(double step, std::size_t from) const
{
    // The next column begins near by: strides grow until they step over it.
    const auto &marks = *steps;
    const auto before = [step](const StepMark &mark, double) { return double(mark.step) < step; };
    std::size_t end = from;
    for (std::size_t stride = 1; end < marks.size() && before(marks[end], step); stride *= 2) {
        from = end + 1;
        end += stride;
    }
    const auto begin = marks.begin();
    end = std::min(end, marks.size());
    return std::size_t(
        std::lower_bound(begin + std::ptrdiff_t(from), begin + std::ptrdiff_t(end), step, before)
        - begin);
}

/// A column at a time: how many marks a column stands for costs nothing.
std::vector<StepStrip::Column> StepStrip::columns() const
{
    std::vector<Column> result;
    if (!m_lane)
        return result;
    const QRect area = plotArea();
    const int right = area.right() + MarkSize;
    std::size_t first = m_lane->after(m_axis.stepAt(area.left() - MarkSize));
    while (first < m_lane->size()) {
        const int x = int(std::lround(m_axis.xOf(double((*m_lane)[first].step))));
        if (x > right)
            break;
        const std::size_t end = std::max(m_lane->after(m_axis.stepAt(x + 0.5), first), first + 1);
        result.push_back({x, m_lane->pyramid.worst(first, end), first, end - 1});
        first = end;
    }
    return result;
}

std::size_t StepStrip::selectedMark() const
{
    const std::optional<Step> step = m_context->selectedStep();
    if (!m_stops || !step)
        return NoMark;
    const std::size_t found = m_stops->after(double(*step));
    const bool there = found < m_stops->size() && (*m_stops)[found].step == *step;
    return there ? found : NoMark;
}

std::optional<std::size_t> StepStrip::markAt(int x) const
{
    std::optional<std::size_t> best;
    int distance = MarkSize;
    for (const Column &column : columns()) {
        const int away = std::abs(column.x - x);
        if (away >= distance)
            continue;
        distance = away;
        best = m_lane->pyramid.next(column.first, column.status);
    }
    return best;
}

// --- selection --------------------------------------------------------------------------------

void StepStrip::select(Step step)
{
    m_axis.show(double(step));
    update();
    m_context->selectStep(step);
}

void StepStrip::jump(bool backward)
{
    if (!m_stops)
        return;
    const std::optional<Step> selected = m_context->selectedStep();
    std::optional<std::size_t> target;
    if (backward && selected)
        target =
            m_stops->pyramid.previous(m_stops->after(double(*selected)), StepStatus::Different);
    else if (!backward)
        target = m_stops->pyramid.next(selected ? m_stops->after(double(*selected) + 1) : 0,
                                       StepStatus::Different);
    if (target)
        select((*m_stops)[*target].step);
}

void StepStrip::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    measure();
}

} // namespace forkpoint
