// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/path_button.h"

namespace forkpoint {

/// One side as a button: its letter, path and what was recognised; clicking asks to open another,
/// dropping a path replaces it.
class SideChip : public PathButton
{
    Q_OBJECT

public:
    SideChip(Side side, QWidget *parent);

    /// `other`: the path of the other side, from which this one is to be told.
    void setState(const SideState &state, const QString &other = {});
    QString stateText() const;
    QString stepsText() const;
    QString errorText() const; ///< "torch, 3 checkpoints", "opening…", why it failed

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString pathText() const;

    QString pathWithin(int width) const;

    SideState m_state;
    QString m_other;
};

} // namespace forkpoint
