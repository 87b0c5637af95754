// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QToolButton;

namespace forkpoint {

class SideChip;

/// Who is compared: chips A and B with what was recognised, a button each to open, and swap.
/// Dropping a path on a chip replaces that side.
class SideChips : public QWidget
{
    Q_OBJECT

public:
    explicit SideChips(ViewContext *context, QWidget *parent = nullptr);

Q_SIGNALS:
    /// The user wants to choose what to open; the window shows its dialog.
    void openRequested(forkpoint::Side side);

private:
    void refresh();

    ViewContext *m_context;
    SideChip *m_chips[2];
    QToolButton *m_swap;
};

} // namespace forkpoint
