// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/remark_dock.h"

#include "widgets/views/shown_lists.h"
#include "widgets/views/view_setup.h"

#include <QLabel>
#include <QStackedWidget>
#include <QTreeView>

namespace forkpoint {

RemarkDock *RemarkDock::findings(ViewContext *context, QWidget *parent)
{
    return new RemarkDock({QStringLiteral("findings"),
                           tr("Findings"),
                           tr("No findings."),
                           {tr("certainty"), tr("finding"), tr("where")},
                           {2, 14, 0, 40},
                           &shownFindings},
                          context, parent);
}

RemarkDock *RemarkDock::problems(ViewContext *context, QWidget *parent)
{
    return new RemarkDock({QStringLiteral("problems"),
                           tr("Problems"),
                           tr("No problems: everything that was listed could be read."),
                           {tr("file"), tr("place"), tr("problem")},
                           {2, 28, 24, 0},
                           &shownProblems},
                          context, parent);
}

RemarkDock::RemarkDock(const Kind &kind, ViewContext *context, QWidget *parent)
    : QDockWidget(kind.title, parent),
      m_context(context),
      m_rows(kind.rows),
      m_model(new RemarkListModel(kind.columns, this))
{
    setObjectName(kind.objectName);
    m_stack = new QStackedWidget(this);
    m_view = makeTable(m_model, kind.title, m_stack);
    setColumnWidths(m_view, kind.characters);
    m_empty = new QLabel(kind.whenEmpty, m_stack);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_empty);
    setWidget(m_stack);
    addCopyRows(m_view);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex &index) {
        const QStringList &names = m_model->at(index.row()).names;
        if (!names.isEmpty())
            Q_EMIT itemRequested(names.first());
    });
    connect(context, &ViewContext::comparisonChanged, this, &RemarkDock::refresh);
    connect(context, &ViewContext::stepComparisonChanged, this, &RemarkDock::refresh);
    connect(context, &ViewContext::sideChanged, this, &RemarkDock::refresh);
    refresh();
}

void RemarkDock::refresh()
{
    m_model->setRows(m_rows(*m_context));
    m_stack->setCurrentWidget(m_model->rowCount() > 0 ? static_cast<QWidget *>(m_view) : m_empty);
}

} // namespace forkpoint
