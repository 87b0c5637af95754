// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/problems_dock.h"

#include "widgets/models/problem_list_model.h"
#include "widgets/views/shown_lists.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QStackedWidget>
#include <QTreeView>

#include <array>

namespace forkpoint {

ProblemsDock::ProblemsDock(ViewContext *context, QWidget *parent)
    : QDockWidget(tr("Problems"), parent),
      m_context(context),
      m_model(new ProblemListModel(this))
{
    setObjectName(QStringLiteral("problemsDock"));
    m_stack = new QStackedWidget(this);
    m_view = makeTable(m_model, tr("Problems"), m_stack);
    setColumnWidths(m_view, std::array{2, 28, 24, 0});
    m_empty = new QLabel(tr("No problems: everything that was listed could be read."), m_stack);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_empty);
    setWidget(m_stack);
    auto *copy = new QAction(tr("Copy rows"), m_view);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    m_view->addAction(copy);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(copy, &QAction::triggered, this,
            [this] { QGuiApplication::clipboard()->setText(selectionAsText(m_view)); });
    connect(context, &ViewContext::comparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refresh(); });
    refresh();
}

void ProblemsDock::refresh()
{
    m_model->setRows(shownProblems(*m_context));
    m_stack->setCurrentWidget(m_model->rowCount() > 0 ? static_cast<QWidget *>(m_view) : m_empty);
}

} // namespace forkpoint
