// SPDX-License-Identifier: GPL-3.0-or-later
// How the step strip looks.
#include "widgets/plot/picture.h"
#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/step_strip_sizes.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace forkpoint {

using namespace step_strip;

// --- painting ---------------------------------------------------------------------------------

void StepStrip::paintEvent(QPaintEvent *)
{
    paintCard(this);
    QPainter painter(this);
    paint(painter);
    if (hasFocus() && !isEmpty()) {
        painter.setPen(Theme::of(palette()).a);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(rect().adjusted(1, 1, -2, -2), 4, 4);
    }
}

QByteArray StepStrip::picture(const QString &suffix) const
{
    return makePicture(size(), suffix, [this](QPaintDevice *device) {
        QPainter painter(device);
        painter.setFont(font());
        painter.fillRect(rect(), palette().color(QPalette::Base));
        paint(painter);
    });
}

bool StepStrip::isEmpty() const
{
    return laneHeight() == 0 && metricHeight() == 0 && timelineHeight() == 0;
}

void StepStrip::paint(QPainter &painter) const
{
    if (isEmpty()) {
        paintEmpty(painter);
        return;
    }
    const QRect area = plotArea();
    const QRect metric(area.left(), area.top(), area.width(), metricHeight());
    const QRect timeline = timelineArea();
    const QRect marks(area.left(), timeline.bottom() + 1, area.width(), laneHeight());
    const QRect axis(area.left(), marks.bottom() + 1, area.width(), fontMetrics().height());
    if (metricHeight() > 0)
        paintMetric(painter, metric);
    if (timelineHeight() > 0)
        m_timeline.paint(painter, timeline, m_axis, palette(), m_context->selectedStep());
    if (laneHeight() > 0)
        paintMarks(painter, marks);
    paintAxis(painter, axis);
}

void StepStrip::paintEmpty(QPainter &painter) const
{
    painter.setPen(Theme::of(palette()).muted);
    const bool hasTrace = m_context->side(Side::A).trace || m_context->side(Side::B).trace;
    const QString text = m_comparison && hasTrace
        ? tr("No step is compared. Those of a trace are chosen in the list of its records.")
        : m_comparison ? tr("There is no series here, and no step to choose.")
                       : tr("The steps of the runs appear here.");
    painter.drawText(rect().adjusted(LabelLeft, 0, -8, 0), Qt::AlignVCenter, text);
}

void StepStrip::paintMetric(QPainter &painter, const QRect &lane) const
{
    const Theme theme = Theme::of(palette());
    const int text = fontMetrics().height();
    constexpr int Clearance = 5; // of the largest dot from the text above
    const QRect plot = lane.adjusted(0, text + Clearance, 0, -4);
    painter.setPen(theme.muted);
    painter.drawText(
        QRect(LabelLeft, plot.top(), lane.left() - LabelLeft, plot.height()), Qt::AlignVCenter,
        fontMetrics().elidedText(m_metricName + tr(" B−A"), Qt::ElideMiddle, lane.left() - 22));
    painter.drawText(lane, int(Qt::AlignTop | Qt::AlignRight), metricSummary());
    painter.setPen(QPen(theme.border, 1, Qt::DotLine));
    painter.drawLine(plot.left(), plot.center().y(), plot.right(), plot.center().y());

    painter.setRenderHint(QPainter::Antialiasing);
    const bool dense = m_axis.pixelsPerStep() < 4;
    const std::vector<MetricDelta> &points = m_metric.points();
    std::size_t first = m_metric.positionOf(m_axis.stepAt(plot.left() - 4));
    while (first < points.size()) {
        const int x = int(std::lround(m_axis.xOf(double(points[first].step))));
        if (x > plot.right() + 4)
            break;
        const std::size_t end = std::max(m_metric.positionOf(m_axis.stepAt(x + 0.5)), first + 1);
        paintMetricPoint(painter, plot, x, m_metric.over(first, end), dense);
        first = end;
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

/// One column: a point, or where it stands for many the span of their extremes.
void StepStrip::paintMetricPoint(QPainter &painter, const QRect &plot, int x,
                                 const MetricDeltas::Extremes &extremes, bool dense) const
{
    const Theme theme = Theme::of(palette());
    const QColor color = extremes.bitsDiffer ? theme.difference : theme.equal;
    painter.setPen(color);
    if (extremes.notFinite)
        painter.drawText(QRectF(x - 10, plot.top(), 20, plot.height()), Qt::AlignCenter,
                         QStringLiteral("?"));
    if (!extremes.anyFinite)
        return;
    const auto yOf = [&](double delta) {
        const double scaled = m_metric.largest() > 0 ? delta / m_metric.largest() : 0.0;
        return plot.center().y() - scaled * plot.height() / 2.0;
    };
    const QPointF top(x, yOf(extremes.most)), bottom(x, yOf(extremes.least));
    if (bottom.y() - top.y() > 1)
        painter.drawLine(top, bottom);
    painter.setBrush(extremes.bitsDiffer ? theme.difference : theme.surface);
    const QPointF point = std::abs(extremes.least) > extremes.most ? bottom : top;
    if (dense)
        painter.fillRect(QRectF(point.x() - 1, point.y() - 1, 2, 2), color);
    else
        painter.drawEllipse(point, 2.5, 2.5);
}

void StepStrip::paintMarks(QPainter &painter, const QRect &lane) const
{
    const Theme theme = Theme::of(palette());
    painter.setPen(theme.muted);
    painter.drawText(QRect(LabelLeft, lane.top(), lane.left() - LabelLeft, lane.height()),
                     Qt::AlignVCenter, tr("checkpoints"));
    const std::vector<Column> shown = columns();
    int nearest = MarkRoom;
    for (std::size_t i = 1; i < shown.size(); ++i)
        nearest = std::min(nearest, shown[i].x - shown[i - 1].x);
    const bool signs = nearest >= MarkRoom;
    const int width = signs ? MarkSize : std::max(1, nearest - 1);
    const std::optional<Step> step = m_context->selectedStep();
    const std::size_t at = step ? m_lane->after(double(*step)) : NoMark;
    const std::size_t selected = at < m_lane->size() && (*m_lane)[at].step == *step ? at : NoMark;
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
    if (!m_rowsButton->isVisibleTo(this)) // it says so itself
        painter.drawText(QRect(LabelLeft, lane.top(), lane.left() - LabelLeft, lane.height()),
                         Qt::AlignVCenter, tr("step"));
    const int room =
        fontMetrics().horizontalAdvance(QString::number(qint64(m_axis.highest()))) + 24;
    const double interval = niceInterval(m_axis.pixelsPerStep(), room);
    const double first = std::ceil(std::max(m_axis.from(), m_axis.lowest()) / interval) * interval;
    for (double step = first; step <= std::min(m_axis.to(), m_axis.highest()); step += interval) {
        const int x = int(std::lround(m_axis.xOf(step)));
        painter.drawText(QRect(x - room, lane.top(), 2 * room, lane.height()), Qt::AlignCenter,
                         QString::number(qint64(step)));
    }
}

} // namespace forkpoint
