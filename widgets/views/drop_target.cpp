// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/drop_target.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"

#include <QPainter>

namespace forkpoint {

DropTarget::DropTarget(Side side, QWidget *parent) : PathButton(side, parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setState({});
}

void DropTarget::setState(const SideState &state)
{
    const QString path = displayText(state.path);
    m_failed = state.phase == SideState::Phase::Failed;
    switch (state.phase) {
    case SideState::Phase::Empty:
        m_text = tr("Drop a checkpoint or a folder here,\nor click to choose one");
        break;
    case SideState::Phase::Opening: m_text = tr("Opening %1…").arg(path); break;
    case SideState::Phase::Recorded:
    case SideState::Phase::Open: m_text = path + u'\n' + displayText(state.format); break;
    case SideState::Phase::Failed:
        m_text = tr("✖ %1\n%2").arg(path, displayText(state.error));
        break;
    }
    setAccessibleName(tr("Side %1: ").arg(letter()) + m_text);
    setToolTip(plainToolTip(m_text));
    update();
}

QSize DropTarget::sizeHint() const
{
    return {360, fontMetrics().height() * 9};
}

void DropTarget::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme theme = Theme::of(palette());
    painter.setPen(QPen(theme.color(side()), isMarked() ? 3 : 1.5, Qt::DashLine));
    painter.setBrush(isDraggedOver() || isDown() ? theme.header : theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(2, 2, -2, -2), 8, 8);
    QFont large = font();
    large.setBold(true);
    large.setPointSizeF(large.pointSizeF() * 2);
    painter.setFont(large);
    painter.setPen(theme.color(side()));
    const int top = height() / 2 - 8;
    painter.drawText(QRect(0, 8, width(), top - 8), Qt::AlignCenter, letter());
    painter.setFont(font());
    painter.setPen(m_failed ? theme.difference : theme.muted);
    painter.drawText(rect().adjusted(16, top, -16, -8),
                     int(Qt::AlignHCenter | Qt::AlignTop | Qt::TextWrapAnywhere), m_text);
}

} // namespace forkpoint
