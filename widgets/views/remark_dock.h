// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"
#include "widgets/views/remark_table.h"

#include <QDockWidget>

namespace forkpoint {

/// A list of remarks beside the investigation: the findings of the comparison, or its problems.
class RemarkDock : public QDockWidget
{
    Q_OBJECT

public:
    static RemarkDock *findings(ViewContext *context, QWidget *parent = nullptr);
    static RemarkDock *problems(ViewContext *context, QWidget *parent = nullptr);

Q_SIGNALS:
    void itemRequested(const QString &name); ///< show the tensor or value of that name

private:
    /// What makes the two docks two.
    struct Kind
    {
        QString objectName, title, whenEmpty;
        QStringList columns;
        std::vector<int> characters;    ///< a column, the sign's first
        std::vector<int> narrowedFirst; ///< as RemarkTable::fitColumns()
        std::vector<Remark> (*rows)(const ViewContext &);
    };

    RemarkDock(const Kind &kind, ViewContext *context, QWidget *parent);

    RemarkTable *m_table;
};

} // namespace forkpoint
