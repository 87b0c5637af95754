// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/drop_target.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/side_chip.h"

#include <QDragEnterEvent>
#include <QPainter>

namespace forkpoint {

DropTarget::DropTarget(Side side, QWidget *parent) : QAbstractButton(parent), m_side(side)
{
    setAcceptDrops(true);
    setFocusPolicy(Qt::StrongFocus);
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
    case SideState::Phase::Open: m_text = path + u'\n' + displayText(state.format); break;
    case SideState::Phase::Failed:
        m_text = tr("✖ %1\n%2").arg(path, displayText(state.error));
        break;
    }
    setAccessibleName((m_side == Side::A ? tr("Side A: ") : tr("Side B: ")) + m_text);
    setToolTip(plainToolTip(m_text));
    update();
}

QSize DropTarget::sizeHint() const
{
    return {360, fontMetrics().height() * 12};
}

void DropTarget::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme theme = Theme::of(palette());
    const bool marked = m_dragged || hasFocus();
    painter.setPen(QPen(theme.color(m_side), marked ? 3 : 1.5, Qt::DashLine));
    painter.setBrush(m_dragged || isDown() ? theme.header : theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(2, 2, -2, -2), 8, 8);
    QFont large = font();
    large.setBold(true);
    large.setPointSizeF(large.pointSizeF() * 2);
    painter.setFont(large);
    painter.setPen(theme.color(m_side));
    const int top = height() / 2 - 8;
    painter.drawText(QRect(0, 8, width(), top - 8), Qt::AlignCenter,
                     m_side == Side::A ? QStringLiteral("A") : QStringLiteral("B"));
    painter.setFont(font());
    painter.setPen(m_failed ? theme.difference : theme.muted);
    painter.drawText(rect().adjusted(16, top, -16, -8),
                     int(Qt::AlignHCenter | Qt::AlignTop | Qt::TextWrapAnywhere), m_text);
}

void DropTarget::dragEnterEvent(QDragEnterEvent *event)
{
    if (droppedPath(event->mimeData()).isEmpty())
        return;
    event->acceptProposedAction();
    m_dragged = true;
    update();
}

void DropTarget::dragLeaveEvent(QDragLeaveEvent *)
{
    m_dragged = false;
    update();
}

void DropTarget::dropEvent(QDropEvent *event)
{
    m_dragged = false;
    update();
    const QString path = droppedPath(event->mimeData());
    if (path.isEmpty())
        return;
    event->acceptProposedAction();
    Q_EMIT pathDropped(path);
}

} // namespace forkpoint
