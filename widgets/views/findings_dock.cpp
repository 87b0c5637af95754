// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/findings_dock.h"

#include "widgets/display_text.h"
#include "widgets/models/finding_list_model.h"
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

FindingsDock::FindingsDock(ViewContext *context, QWidget *parent)
    : QDockWidget(tr("Findings"), parent),
      m_context(context),
      m_model(new FindingListModel(this))
{
    setObjectName(QStringLiteral("findingsDock"));
    m_stack = new QStackedWidget(this);
    m_view = makeTable(m_model, tr("Findings"), m_stack);
    setColumnWidths(m_view, std::array{2, 14, 0, 40});
    m_empty = new QLabel(tr("No findings."), m_stack);
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
    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex &index) {
        const Finding &finding = m_model->at(index.row());
        if (!finding.where.empty())
            Q_EMIT itemRequested(displayText(finding.where.front()));
    });
    connect(context, &ViewContext::comparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refresh(); });
    refresh();
}

void FindingsDock::refresh()
{
    m_model->setRows(shownFindings(*m_context));
    m_stack->setCurrentWidget(m_model->rowCount() > 0 ? static_cast<QWidget *>(m_view) : m_empty);
}

} // namespace forkpoint
