// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QAbstractButton>

class QMimeData;

namespace forkpoint {

/// The first local path that a drag carries, or nothing.
QString droppedPath(const QMimeData *data);

/// One side as a button: its letter, path and what was recognised; clicking asks to open another,
/// dropping a path replaces it.
class SideChip : public QAbstractButton
{
    Q_OBJECT

public:
    SideChip(Side side, QWidget *parent);

    void setState(const SideState &state);
    QString stateText() const; ///< "torch, 3 checkpoints", "opening…", why it failed

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void pathDropped(const QString &path);

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dragLeaveEvent(QDragLeaveEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    QString pathText() const;

    Side m_side;
    SideState m_state;
    bool m_dragged = false;
};

} // namespace forkpoint
