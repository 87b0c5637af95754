// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QAbstractButton>

class QMimeData;

namespace forkpoint {

/// The local paths that a drag carries.
QStringList droppedPaths(const QMimeData *data);

/// A button that stands for one side: clicking asks for what to open, a path dropped on it is that.
/// The two kinds, small and large, only paint.
class PathButton : public QAbstractButton
{
    Q_OBJECT

public:
    PathButton(Side side, QWidget *parent);

    Side side() const { return m_side; }
    QString letter() const; ///< "A" or "B"

Q_SIGNALS:
    void pathDropped(const QString &path);

protected:
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dragLeaveEvent(QDragLeaveEvent *event) override;
    void dropEvent(QDropEvent *event) override;

    bool isDraggedOver() const { return m_dragged; }
    /// The keyboard's focus or a drag is on it.
    bool isMarked() const { return m_dragged || hasFocus(); }

private:
    void setDragged(bool dragged);

    Side m_side;
    bool m_dragged = false;
};

} // namespace forkpoint
