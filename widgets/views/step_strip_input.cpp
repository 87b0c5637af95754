// SPDX-License-Identifier: GPL-3.0-or-later
// What the step strip does with keys, mouse and wheel, and what it says under the pointer.
#include "widgets/display_text.h"
#include "widgets/status_look.h"
#include "widgets/views/step_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

constexpr double ZoomStep = 1.25, PanStep = 0.1;

} // namespace

void StepStrip::keyPressEvent(QKeyEvent *event)
{
    const std::size_t count = m_stops ? m_stops->size() : 0;
    const std::size_t selected = selectedMark();
    if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Minus) {
        const double x = selected == NoMark ? plotArea().center().x()
                                            : m_axis.xOf(double((*m_stops)[selected].step));
        m_axis.zoomAt(x, event->key() == Qt::Key_Plus ? 1 / ZoomStep : ZoomStep);
        update();
        return;
    }
    const bool left = event->key() == Qt::Key_Left, right = event->key() == Qt::Key_Right;
    if ((event->modifiers() & Qt::ControlModifier) && (left || right)) {
        const double pan = (m_axis.to() - m_axis.from()) * PanStep;
        m_axis.panTo(m_axis.from() + (left ? -pan : pan));
        update();
        return;
    }
    if (count == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto selectMark = [&](std::size_t mark) { select((*m_stops)[mark].step); };
    switch (event->key()) {
    case Qt::Key_Left: selectMark(selected != NoMark && selected > 0 ? selected - 1 : 0); break;
    case Qt::Key_Right:
        selectMark(selected != NoMark ? std::min(selected + 1, count - 1) : 0);
        break;
    case Qt::Key_Home: selectMark(0); break;
    case Qt::Key_End: selectMark(count - 1); break;
    default: QWidget::keyPressEvent(event);
    }
}

void StepStrip::mousePressEvent(QMouseEvent *event)
{
    m_pressed = event->button() == Qt::LeftButton;
    m_dragging = false;
    m_pressedAt = event->pos();
    m_pressedFrom = m_axis.from();
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
    m_axis.panTo(m_pressedFrom - moved / m_axis.pixelsPerStep());
    update();
}

void StepStrip::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_pressed && !m_dragging) {
        const QPoint at = event->pos();
        if (const auto place = m_timeline.placeAt(at, timelineArea(), m_axis)) {
            choose(*place);
        } else if (const auto mark = markAt(at.x())) {
            select((*m_lane)[*mark].step);
        }
    }
    m_pressed = m_dragging = false;
}

void StepStrip::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (m_timeline.placeAt(event->pos(), timelineArea(), m_axis))
        Q_EMIT cellActivated();
}

void StepStrip::wheelEvent(QWheelEvent *event)
{
    const int turned = event->angleDelta().y();
    if (turned == 0)
        return;
    m_axis.zoomAt(event->position().x(), turned > 0 ? 1 / ZoomStep : ZoomStep);
    update();
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
        measure();
        updateGeometry();
    }
    return QWidget::event(event);
}

QString StepStrip::toolTipAt(const QPoint &position) const
{
    if (position.y() < plotArea().top() + metricHeight() && !m_metric.isEmpty()) {
        const MetricDelta &nearest = m_metric.nearest(m_axis.stepAt(position.x()));
        return tr("%1 at step %2: B−A = %3")
            .arg(m_metricName)
            .arg(nearest.step)
            .arg(QString::number(nearest.delta, 'g', 9));
    }
    const QString cell = m_timeline.toolTipAt(position, timelineArea(), m_axis);
    if (!cell.isEmpty())
        return cell;
    const auto mark = markAt(position.x());
    if (!mark)
        return {};
    const StepMark &step = (*m_lane)[*mark];
    QString text = tr("step %1: %2").arg(step.step).arg(describe(step.status));
    if (step.different > 0)
        text += tr(", ") + countedText(step.different, "item differs", "items differ");
    if (!step.reason.empty())
        text += u'\n' + displayText(step.reason);
    return text;
}

} // namespace forkpoint
