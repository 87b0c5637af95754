// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QDockWidget>

class QLabel;
class QStackedWidget;
class QTreeView;

namespace forkpoint {

class ProblemListModel;

/// The problems: what was skipped, refused or odd, where, and why.
class ProblemsDock : public QDockWidget
{
    Q_OBJECT

public:
    explicit ProblemsDock(ViewContext *context, QWidget *parent = nullptr);

private:
    void refresh();

    ViewContext *m_context;
    ProblemListModel *m_model;
    QTreeView *m_view;
    QStackedWidget *m_stack;
    QLabel *m_empty;
};

} // namespace forkpoint
