// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/path_button.h"

#include <QDragEnterEvent>
#include <QMimeData>
#include <QUrl>

namespace forkpoint {

QStringList droppedPaths(const QMimeData *data)
{
    QStringList paths;
    for (const QUrl &url : data->urls()) {
        if (url.isLocalFile())
            paths += url.toLocalFile();
    }
    return paths;
}

PathButton::PathButton(Side side, QWidget *parent) : QAbstractButton(parent), m_side(side)
{
    setAcceptDrops(true);
    setFocusPolicy(Qt::StrongFocus);
}

QString PathButton::letter() const
{
    return m_side == Side::A ? QStringLiteral("A") : QStringLiteral("B");
}

void PathButton::setDragged(bool dragged)
{
    m_dragged = dragged;
    update();
}

void PathButton::enterEvent(QEnterEvent *event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void PathButton::leaveEvent(QEvent *event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

void PathButton::dragEnterEvent(QDragEnterEvent *event)
{
    if (droppedPaths(event->mimeData()).size() != 1)
        return; // a pair is the window's
    event->acceptProposedAction();
    setDragged(true);
}

void PathButton::dragLeaveEvent(QDragLeaveEvent *)
{
    setDragged(false);
}

void PathButton::dropEvent(QDropEvent *event)
{
    setDragged(false);
    const QStringList paths = droppedPaths(event->mimeData());
    if (paths.size() != 1)
        return;
    event->acceptProposedAction();
    Q_EMIT pathDropped(paths.first());
}

} // namespace forkpoint
