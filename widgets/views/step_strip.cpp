// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/step_strip.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <bit>
#include <cmath>

namespace forkpoint {

namespace {

constexpr int MarkSize = 20; ///< a mark with its sign, where there is room
constexpr int MarkRoom = 24; ///< pixels between marks below which they become columns
constexpr int RightMargin = 24;
constexpr int Padding = 6;
constexpr double ZoomStep = 1.25;
constexpr double SmallestSpan = 2.0;

/// What must not be hidden by what: a difference shows over everything.
int weight(StepStatus status)
{
    switch (status) {
    case StepStatus::Different: return 5;
    case StepStatus::Undecided: return 4;
    case StepStatus::OnlyInA:
    case StepStatus::OnlyInB: return 3;
    case StepStatus::Pending: return 2;
    case StepStatus::Identical: break;
    }
    return 1;
}

const MetricSeries *lossOf(const SideState &side)
{
    for (const MetricSeries &series : side.metrics) {
        if (series.name == "loss")
            return &series;
    }
    return side.metrics.empty() ? nullptr : &side.metrics.front();
}

const MetricSeries *seriesNamed(const SideState &side, const std::string &name)
{
    for (const MetricSeries &series : side.metrics) {
        if (series.name == name)
            return &series;
    }
    return nullptr;
}

/// 1, 2 or 5 times a power of ten, so that labels stand `room` pixels apart.
double niceInterval(double pixelsPerStep, double room)
{
    const double raw = std::max(1.0, room / std::max(pixelsPerStep, 1e-300));
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    for (double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= raw)
            return factor * power;
    }
    return 10.0 * power;
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
    measureLabels();
    connect(m_next, &QAction::triggered, this, [this] { jump(false); });
    connect(m_previous, &QAction::triggered, this, [this] { jump(true); });
    connect(m_fit, &QAction::triggered, this, [this] { zoomToFit(); });
    connect(context, &ViewContext::comparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::selectedStepChanged, this, qOverload<>(&QWidget::update));
    refresh();
}

QSize StepStrip::sizeHint() const
{
    const bool steps = m_comparison && !m_comparison->steps.empty();
    const int lanes = steps || !m_deltas.empty()
        ? metricHeight() + laneHeight() + fontMetrics().height()
        : fontMetrics().height() + 8;
    return {800, lanes + 2 * Padding};
}

QSize StepStrip::minimumSizeHint() const
{
    return {240, sizeHint().height()};
}

int StepStrip::metricHeight() const
{
    return m_deltas.empty() ? 0 : fontMetrics().height() * 2 + 10;
}

int StepStrip::laneHeight() const
{
    return m_comparison && !m_comparison->steps.empty() ? MarkSize + 12 : 0;
}

void StepStrip::refresh()
{
    m_comparison = m_context->comparison();
    refreshMetric();
    const bool any = m_comparison && !m_comparison->steps.empty();
    double lowest = 0, highest = 1;
    if (any) {
        lowest = double(m_comparison->steps.front().step);
        highest = double(m_comparison->steps.back().step);
    }
    if (!m_deltas.empty()) {
        const double first = double(m_deltas.front().step), last = double(m_deltas.back().step);
        lowest = any ? std::min(lowest, first) : first;
        highest = any ? std::max(highest, last) : last;
    }
    const bool differing = any
        && std::any_of(m_comparison->steps.begin(), m_comparison->steps.end(),
                       [](const auto &m) { return m.status == StepStatus::Different; });
    m_next->setEnabled(differing);
    m_previous->setEnabled(differing);
    if (lowest != m_lowest || highest != m_highest || m_fitted) {
        m_lowest = lowest;
        m_highest = std::max(highest, lowest);
        zoomToFit();
    }
    updateGeometry();
    update();
}

void StepStrip::refreshMetric()
{
    m_deltas.clear();
    m_metricName.clear();
    const SideState sideA = m_context->side(Side::A), sideB = m_context->side(Side::B);
    const MetricSeries *a = lossOf(sideA);
    const MetricSeries *b = a ? seriesNamed(sideB, a->name) : nullptr;
    if (!a || !b)
        return;
    m_metricName = displayText(a->name);
    auto other = b->points.begin();
    for (const MetricPoint &point : a->points) {
        while (other != b->points.end() && other->step < point.step)
            ++other;
        if (other == b->points.end())
            break;
        if (other->step != point.step)
            continue;
        const bool differ =
            std::bit_cast<std::uint64_t>(point.value) != std::bit_cast<std::uint64_t>(other->value);
        m_deltas.push_back({point.step, differ ? other->value - point.value : 0.0, differ});
    }
}

QString StepStrip::metricSummary() const
{
    if (m_deltas.empty())
        return {};
    bool bitsKnown = true;
    if (m_comparison) {
        for (const MetricComparison &metric : m_comparison->metrics) {
            if (displayText(metric.name) == m_metricName)
                bitsKnown = metric.bitsKnown;
        }
    }
    const QString precision = bitsKnown ? tr("every bit known") : tr("as printed, rounded");
    const auto first = std::find_if(m_deltas.begin(), m_deltas.end(),
                                    [](const MetricDelta &delta) { return delta.bitsDiffer; });
    if (first == m_deltas.end())
        return tr("0 at all %1 common steps (%2)").arg(m_deltas.size()).arg(precision);
    double largest = 0;
    for (const MetricDelta &delta : m_deltas)
        largest = std::isfinite(delta.delta) ? std::max(largest, std::abs(delta.delta)) : largest;
    return tr("first differs at step %1, largest |B−A| %2 (%3)")
        .arg(first->step)
        .arg(magnitudeText(largest), precision);
}

// --- geometry -------------------------------------------------------------------------------

/// Once a font: every mark asks where the lanes begin.
void StepStrip::measureLabels()
{
    m_labelWidth = fontMetrics().horizontalAdvance(tr("checkpoints")) + 28;
}

QRect StepStrip::plotArea() const
{
    return rect().adjusted(m_labelWidth, Padding, -RightMargin, -Padding);
}

double StepStrip::pixelsPerStep() const
{
    return double(plotArea().width()) / std::max(m_to - m_from, 1e-9);
}

double StepStrip::xOf(double step) const
{
    return plotArea().left() + (step - m_from) * pixelsPerStep();
}

double StepStrip::stepAt(double x) const
{
    return m_from + (x - plotArea().left()) / pixelsPerStep();
}

void StepStrip::zoomToFit()
{
    const double margin = std::max(0.5, (m_highest - m_lowest) * 0.03);
    m_from = m_lowest - margin;
    m_to = m_highest + margin;
    m_fitted = true;
    update();
}

void StepStrip::zoomAt(double x, double factor)
{
    const double fixed = stepAt(x);
    const double whole = m_highest - m_lowest + 2 * std::max(0.5, (m_highest - m_lowest) * 0.03);
    const double span = std::clamp((m_to - m_from) * factor, std::min(SmallestSpan, whole), whole);
    const double share = (fixed - m_from) / (m_to - m_from);
    m_from = fixed - share * span;
    m_to = m_from + span;
    m_fitted = span >= whole;
    clampRange();
}

void StepStrip::clampRange()
{
    const double margin = std::max(0.5, (m_highest - m_lowest) * 0.03);
    const double span = m_to - m_from;
    m_from = std::clamp(m_from, m_lowest - margin,
                        std::max(m_lowest - margin, m_highest + margin - span));
    m_to = m_from + span;
    update();
}

std::vector<StepStrip::Column> StepStrip::columns() const
{
    std::vector<Column> result;
    if (!m_comparison)
        return result;
    const auto &marks = m_comparison->steps;
    const QRect area = plotArea();
    const auto first =
        std::lower_bound(marks.begin(), marks.end(), stepAt(area.left() - MarkSize),
                         [](const StepMark &m, double s) { return double(m.step) < s; });
    for (auto mark = first; mark != marks.end(); ++mark) {
        const int x = int(std::lround(xOf(double(mark->step))));
        if (x > area.right() + MarkSize)
            break;
        const auto position = std::size_t(mark - marks.begin());
        if (result.empty() || result.back().x != x) {
            result.push_back({x, mark->status, position, position});
            continue;
        }
        Column &column = result.back();
        column.last = position;
        if (weight(mark->status) > weight(column.status))
            column.status = mark->status;
    }
    return result;
}

std::size_t StepStrip::selectedMark() const
{
    const std::optional<Step> step = m_context->selectedStep();
    if (!m_comparison || !step)
        return NoMark;
    const auto &marks = m_comparison->steps;
    const auto found = std::lower_bound(marks.begin(), marks.end(), *step,
                                        [](const StepMark &m, Step s) { return m.step < s; });
    if (found == marks.end() || found->step != *step)
        return NoMark;
    return std::size_t(found - marks.begin());
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
        best = column.first;
        for (std::size_t i = column.first; i <= column.last; ++i) {
            if (m_comparison->steps[i].status == column.status) {
                best = i;
                break;
            }
        }
    }
    return best;
}

// --- selection --------------------------------------------------------------------------------

void StepStrip::select(std::size_t mark)
{
    const Step step = m_comparison->steps[mark].step;
    const double margin = (m_to - m_from) * 0.05;
    if (double(step) < m_from + margin || double(step) > m_to - margin) {
        const double span = m_to - m_from;
        m_from = double(step) - span / 2;
        m_to = m_from + span;
        clampRange();
    }
    m_context->selectStep(step);
}

void StepStrip::jump(bool backward)
{
    if (!m_comparison)
        return;
    const auto &marks = m_comparison->steps;
    const std::optional<Step> selected = m_context->selectedStep();
    std::optional<std::size_t> target;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        if (marks[i].status != StepStatus::Different)
            continue;
        const bool before = selected && marks[i].step < *selected;
        const bool after = !selected || marks[i].step > *selected;
        if (backward && before)
            target = i;
        if (!backward && after) {
            target = i;
            break;
        }
    }
    if (target)
        select(*target);
}

void StepStrip::keyPressEvent(QKeyEvent *event)
{
    const std::size_t count = m_comparison ? m_comparison->steps.size() : 0;
    const std::size_t selected = selectedMark();
    if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Minus) {
        zoomAt(plotArea().center().x(), event->key() == Qt::Key_Plus ? 1 / ZoomStep : ZoomStep);
        return;
    }
    if (count == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left: select(selected != NoMark && selected > 0 ? selected - 1 : 0); break;
    case Qt::Key_Right: select(selected != NoMark ? std::min(selected + 1, count - 1) : 0); break;
    case Qt::Key_Home: select(0); break;
    case Qt::Key_End: select(count - 1); break;
    default: QWidget::keyPressEvent(event);
    }
}

void StepStrip::mousePressEvent(QMouseEvent *event)
{
    m_pressed = event->button() == Qt::LeftButton;
    m_dragging = false;
    m_pressedAt = event->pos();
    m_pressedFrom = m_from;
}

void StepStrip::mouseMoveEvent(QMouseEvent *event)
{
    constexpr int Threshold = 5;
    if (!m_pressed)
        return;
    const int moved = event->pos().x() - m_pressedAt.x();
    if (!m_dragging && std::abs(moved) < Threshold)
        return;
    m_dragging = true;
    const double span = m_to - m_from;
    m_from = m_pressedFrom - moved / pixelsPerStep();
    m_to = m_from + span;
    clampRange();
}

void StepStrip::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_pressed && !m_dragging) {
        if (const auto mark = markAt(event->pos().x()))
            select(*mark);
    }
    m_pressed = m_dragging = false;
}

void StepStrip::wheelEvent(QWheelEvent *event)
{
    const int turned = event->angleDelta().y();
    if (turned == 0)
        return;
    zoomAt(event->position().x(), turned > 0 ? 1 / ZoomStep : ZoomStep);
    event->accept();
}

bool StepStrip::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const QString text = toolTipAt(help->pos());
        text.isEmpty() ? QToolTip::hideText()
                       : QToolTip::showText(help->globalPos(), plainToolTip(text), this);
        return true;
    }
    if (event->type() == QEvent::FontChange) {
        measureLabels();
        updateGeometry();
    }
    return QWidget::event(event);
}

QString StepStrip::toolTipAt(const QPoint &position) const
{
    if (position.y() < plotArea().top() + metricHeight() && !m_deltas.empty()) {
        const auto nearest = std::min_element(
            m_deltas.begin(), m_deltas.end(), [&](const MetricDelta &x, const MetricDelta &y) {
                return std::abs(xOf(double(x.step)) - position.x())
                    < std::abs(xOf(double(y.step)) - position.x());
            });
        return tr("%1 at step %2: B−A = %3")
            .arg(m_metricName)
            .arg(nearest->step)
            .arg(QString::number(nearest->delta, 'g', 9));
    }
    const auto mark = markAt(position.x());
    if (!mark)
        return {};
    const StepMark &step = m_comparison->steps[*mark];
    QString text = tr("step %1: %2").arg(step.step).arg(describe(step.status));
    if (step.different > 0)
        text += tr(", ") + countedText(step.different, "item differs", "items differ");
    if (!step.reason.empty())
        text += u'\n' + displayText(step.reason);
    return text;
}

// --- painting ---------------------------------------------------------------------------------

void StepStrip::paintEvent(QPaintEvent *)
{
    paintCard(this);
    QPainter painter(this);
    if (laneHeight() == 0 && metricHeight() == 0) {
        paintEmpty(painter);
        return;
    }
    const QRect area = plotArea();
    const QRect metric(area.left(), area.top(), area.width(), metricHeight());
    const QRect marks(area.left(), metric.bottom() + 1, area.width(), laneHeight());
    const QRect axis(area.left(), marks.bottom() + 1, area.width(), fontMetrics().height());
    if (metricHeight() > 0)
        paintMetric(painter, metric);
    if (laneHeight() > 0)
        paintMarks(painter, marks);
    paintAxis(painter, axis);
    if (hasFocus()) {
        painter.setPen(Theme::of(palette()).a);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(rect().adjusted(1, 1, -2, -2), 4, 4);
    }
}

void StepStrip::paintEmpty(QPainter &painter) const
{
    painter.setPen(Theme::of(palette()).muted);
    const QString text = m_comparison ? tr("Single checkpoints: there are no steps to choose from.")
                                      : tr("The steps of the runs appear here.");
    painter.drawText(rect().adjusted(14, 0, -8, 0), Qt::AlignVCenter, text);
}

void StepStrip::paintMetric(QPainter &painter, const QRect &lane) const
{
    const Theme theme = Theme::of(palette());
    const int text = fontMetrics().height();
    const QRect plot = lane.adjusted(0, text, 0, -4);
    painter.setPen(theme.muted);
    painter.drawText(
        QRect(14, plot.top(), lane.left() - 14, plot.height()), Qt::AlignVCenter,
        fontMetrics().elidedText(m_metricName + tr(" B−A"), Qt::ElideMiddle, lane.left() - 22));
    painter.drawText(lane, int(Qt::AlignTop | Qt::AlignRight), metricSummary());
    painter.setPen(QPen(theme.border, 1, Qt::DotLine));
    painter.drawLine(plot.left(), plot.center().y(), plot.right(), plot.center().y());

    double largest = 0;
    for (const MetricDelta &delta : m_deltas)
        largest = std::isfinite(delta.delta) ? std::max(largest, std::abs(delta.delta)) : largest;
    painter.setRenderHint(QPainter::Antialiasing);
    const bool dense = pixelsPerStep() < 4;
    int lastX = -1;
    bool lastDiffered = false;
    for (const MetricDelta &delta : m_deltas) {
        const int x = int(std::lround(xOf(double(delta.step))));
        if (x < plot.left() - 4 || x > plot.right() + 4)
            continue;
        // One point a pixel is enough, but an equal one never hides a difference.
        if (x == lastX && (lastDiffered || !delta.bitsDiffer) && delta.delta == 0.0)
            continue;
        lastX = x;
        lastDiffered = delta.bitsDiffer;
        const bool finite = std::isfinite(delta.delta);
        const double scaled = finite && largest > 0 ? delta.delta / largest : 0.0;
        const QPointF point(x, plot.center().y() - scaled * plot.height() / 2.0);
        painter.setPen(delta.bitsDiffer ? theme.difference : theme.equal);
        if (!finite) {
            painter.drawText(QRectF(x - 10, plot.top(), 20, plot.height()), Qt::AlignCenter,
                             QStringLiteral("?"));
            continue;
        }
        painter.setBrush(delta.bitsDiffer ? theme.difference : theme.surface);
        painter.drawEllipse(point, dense ? 1.0 : 2.5, dense ? 1.0 : 2.5);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void StepStrip::paintMarks(QPainter &painter, const QRect &lane) const
{
    const Theme theme = Theme::of(palette());
    painter.setPen(theme.muted);
    painter.drawText(QRect(14, lane.top(), lane.left() - 14, lane.height()), Qt::AlignVCenter,
                     tr("checkpoints"));
    const std::vector<Column> shown = columns();
    int nearest = MarkRoom;
    for (std::size_t i = 1; i < shown.size(); ++i)
        nearest = std::min(nearest, shown[i].x - shown[i - 1].x);
    const bool signs = nearest >= MarkRoom;
    const int width = signs ? MarkSize : std::max(1, nearest - 1);
    const std::size_t selected = selectedMark();
    painter.setRenderHint(QPainter::Antialiasing, signs);
    for (const Column &column : shown) {
        const QRect mark(column.x - width / 2, lane.center().y() - MarkSize / 2, width, MarkSize);
        const QColor color = theme.color(column.status);
        const bool filled =
            column.status != StepStatus::Identical && column.status != StepStatus::Pending;
        if (signs) {
            painter.setPen(QPen(color, 1));
            painter.setBrush(filled ? color : theme.surface);
            painter.drawRoundedRect(QRectF(mark).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
            painter.setPen(filled ? theme.surface : color);
            painter.drawText(mark, Qt::AlignCenter, sign(column.status));
        } else {
            // Without room for a sign, height tells: differing marks are full, equal ones low.
            const int height = filled ? MarkSize : MarkSize / 3;
            painter.fillRect(mark.x(), mark.bottom() - height, width, height, color);
        }
        if (selected >= column.first && selected <= column.last) {
            painter.setPen(QPen(theme.a, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(mark.adjusted(-3, -3, 3, 3), 4, 4);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void StepStrip::paintAxis(QPainter &painter, const QRect &lane) const
{
    painter.setPen(Theme::of(palette()).muted);
    const int room = fontMetrics().horizontalAdvance(QString::number(qint64(m_highest))) + 24;
    const double interval = niceInterval(pixelsPerStep(), room);
    const double first = std::ceil(std::max(m_from, m_lowest) / interval) * interval;
    for (double step = first; step <= std::min(m_to, m_highest); step += interval) {
        const int x = int(std::lround(xOf(step)));
        painter.drawText(QRect(x - room, lane.top(), 2 * room, lane.height()), Qt::AlignCenter,
                         QString::number(qint64(step)));
    }
}

} // namespace forkpoint
