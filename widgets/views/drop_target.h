// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/path_button.h"

namespace forkpoint {

/// One of the two large fields of the welcome page: click to choose, or drop a path.
class DropTarget : public PathButton
{
    Q_OBJECT

public:
    DropTarget(Side side, QWidget *parent);

    void setState(const SideState &state);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_text;
    bool m_failed = false;
};

} // namespace forkpoint
