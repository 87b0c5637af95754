// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QAbstractButton>

namespace forkpoint {

/// One of the two large fields of the welcome page: click to choose, or drop a path.
class DropTarget : public QAbstractButton
{
    Q_OBJECT

public:
    DropTarget(Side side, QWidget *parent);

    void setState(const SideState &state);
    QSize sizeHint() const override;

Q_SIGNALS:
    void pathDropped(const QString &path);

protected:
    void paintEvent(QPaintEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dragLeaveEvent(QDragLeaveEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    Side m_side;
    QString m_text;
    bool m_failed = false;
    bool m_dragged = false;
};

} // namespace forkpoint
