// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QDockWidget>

class QLabel;
class QStackedWidget;
class QTreeView;

namespace forkpoint {

class FindingListModel;

/// The findings of the comparison: what a person should know.
class FindingsDock : public QDockWidget
{
    Q_OBJECT

public:
    explicit FindingsDock(ViewContext *context, QWidget *parent = nullptr);

Q_SIGNALS:
    void itemRequested(const QString &name); ///< show the tensor or value of that name

private:
    void refresh();

    ViewContext *m_context;
    FindingListModel *m_model;
    QTreeView *m_view;
    QStackedWidget *m_stack;
    QLabel *m_empty;
};

} // namespace forkpoint
