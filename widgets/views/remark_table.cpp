// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/remark_table.h"

#include "widgets/theme.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QLabel>
#include <QTreeView>

namespace forkpoint {

RemarkTable::RemarkTable(ViewContext *context, const QString &accessibleName,
                         const QStringList &columns, const std::vector<int> &characters,
                         QWidget *parent)
    : QStackedWidget(parent),
      m_model(new RemarkListModel(columns, this)),
      m_view(makeTable(m_model, accessibleName, this)),
      m_empty(new QLabel(this))
{
    setColumnWidths(m_view, characters);
    m_empty->setTextFormat(Qt::PlainText);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    addWidget(m_view);
    addWidget(m_empty);
    addTableActions(m_view, context, accessibleName);
    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex &index) {
        const QStringList &names = m_model->at(index.row()).names;
        if (!names.isEmpty())
            Q_EMIT itemRequested(names.first());
    });
    setRows({});
}

void RemarkTable::setRows(std::vector<Remark> rows)
{
    const bool wasEmpty = isEmpty();
    m_model->setRows(std::move(rows));
    setCurrentWidget(isEmpty() ? m_empty : static_cast<QWidget *>(m_view));
    if (isEmpty() == wasEmpty)
        return;
    updateGeometry();
    Q_EMIT roomChanged();
}

/// What a dock opens with: a few rows, so that the page above keeps its room; a line while there are
/// none.
QSize RemarkTable::sizeHint() const
{
    constexpr int Rows = 7;
    return {QStackedWidget::sizeHint().width(),
            (isEmpty() ? 2 : Rows + 1) * forkpoint::rowHeight(font())};
}

QSize RemarkTable::minimumSizeHint() const
{
    return {QStackedWidget::minimumSizeHint().width(),
            (isEmpty() ? 1 : 3) * forkpoint::rowHeight(font())};
}

void RemarkTable::setEmptyText(const QString &text)
{
    m_empty->setText(text);
}

} // namespace forkpoint
