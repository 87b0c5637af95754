// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/remark_dock.h"

#include "widgets/views/shown_lists.h"

namespace forkpoint {

RemarkDock *RemarkDock::findings(ViewContext *context, QWidget *parent)
{
    return new RemarkDock({QStringLiteral("findings"),
                           tr("Findings"),
                           tr("No findings."),
                           {tr("certainty"), tr("finding"), tr("where")},
                           {2, 14, 60, 40},
                           {3, 2},
                           &shownFindings},
                          context, parent);
}

RemarkDock *RemarkDock::problems(ViewContext *context, QWidget *parent)
{
    return new RemarkDock({QStringLiteral("problems"),
                           tr("Problems"),
                           tr("No problems: everything that was listed could be read."),
                           {tr("file"), tr("place"), tr("problem")},
                           {2, 28, 24, 60},
                           {1, 2, 3},
                           &shownProblems},
                          context, parent);
}

RemarkDock::RemarkDock(const Kind &kind, ViewContext *context, QWidget *parent)
    : QDockWidget(kind.title, parent),
      m_table(new RemarkTable(context, kind.title, kind.columns, kind.characters, this))
{
    setObjectName(kind.objectName);
    setWidget(m_table);
    m_table->setEmptyText(kind.whenEmpty);
    m_table->fitColumns(kind.narrowedFirst);
    connect(m_table, &RemarkTable::itemRequested, this, &RemarkDock::itemRequested);
    const auto refresh = [this, context, rows = kind.rows] { m_table->setRows(rows(*context)); };
    connect(context, &ViewContext::comparisonChanged, this, refresh);
    connect(context, &ViewContext::stepComparisonChanged, this, refresh);
    connect(context, &ViewContext::sideChanged, this, refresh);
    refresh();
}

} // namespace forkpoint
