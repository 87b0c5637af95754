// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/row_table_model.h"

namespace forkpoint {

RowTableModel::RowTableModel(int columns, int nameColumn, QObject *parent)
    : QAbstractTableModel(parent),
      m_columns(columns),
      m_nameColumn(nameColumn),
      m_sortColumn(nameColumn)
{
    m_pool.setMaxThreadCount(1); // newer tasks follow older ones, and share their keys
}

RowTableModel::~RowTableModel()
{
    m_pool.clear();
    m_pool.waitForDone();
}

void RowTableModel::setRows(std::shared_ptr<RowSource> rows)
{
    m_wanted = std::move(rows);
    if (m_wanted) {
        m_mustPrepare = true;
        arrange();
        return;
    }
    ++m_latest; // what is under way comes too late
    m_arranging = m_mustPrepare = m_mustSort = m_mustFilter = false;
    beginResetModel();
    m_shown.reset();
    m_index = {};
    show(nullptr);
    endResetModel();
    Q_EMIT rowsChanged();
}

void RowTableModel::setFilter(const RowFilter &filter)
{
    m_filter = filter;
    m_mustFilter = true;
    if (m_wanted)
        arrange();
}

void RowTableModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= m_columns)
        return;
    m_sortColumn = column;
    m_sortOrder = order;
    m_mustSort = true;
    if (m_wanted)
        arrange();
}

void RowTableModel::arrange()
{
    auto task = std::make_shared<Task>();
    task->number = ++m_latest;
    task->prepare = m_mustPrepare;
    task->sort = m_mustSort;
    task->filters = m_mustFilter || m_mustPrepare; // what a filter looks at may have changed
    task->rows = m_wanted;
    task->before = m_shown;
    task->index = m_index;
    task->keys = m_mustPrepare ? std::make_shared<Keys>() : m_keys;
    task->filter = m_filter;
    task->column = m_sortColumn;
    task->descending = m_sortOrder == Qt::DescendingOrder;
    if (m_wanted->size() <= RowsAtOnce) {
        carryOut(*task, m_nameColumn);
        take(*task);
        return;
    }
    m_arranging = true;
    m_pool.clear();             // of tasks that have not begun
    m_pool.start([this, task] { // which the destructor waits for
        carryOut(*task, m_nameColumn);
        QMetaObject::invokeMethod(
            this,
            [this, task] {
                if (m_latest == task->number)
                    take(*task);
            },
            Qt::QueuedConnection);
    });
}

void RowTableModel::carryOut(Task &task, int nameColumn)
{
    if (task.prepare) {
        if (task.rows != task.before)
            task.rows->prepare();
        task.sameRows = task.before && task.rows->sameNames(*task.before);
        if (!task.sameRows) {
            task.index = RowIndex(indexNames(*task.rows));
            task.sort = true;
        }
    }
    if (task.sort) {
        std::vector<std::uint64_t> &keys = (*task.keys)[task.column];
        if (keys.empty() && task.column != nameColumn)
            keys = task.rows->keys(task.column);
        task.index.sort(keys, task.descending);
    }
    if (task.filters)
        task.index.filter(*task.rows, task.filter);
}

void RowTableModel::take(Task &task)
{
    m_arranging = m_mustPrepare = m_mustSort = m_mustFilter = false;
    const bool sameVisible = task.index.visible() == m_index.visible();
    const bool sameCount = task.index.visible().size() == m_index.visible().size();
    const bool keepsRows = !task.prepare || task.sameRows;
    m_keys = std::move(task.keys);
    if (keepsRows && (sameVisible || (task.sort && sameCount))) {
        m_shown = task.rows;
        if (task.prepare)
            show(m_shown);
        if (!sameVisible)
            takeOrder(std::move(task.index));
        else
            m_index = std::move(task.index);
        if (task.prepare && rowCount() > 0)
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        if (task.prepare)
            Q_EMIT cellsChanged();
        return;
    }
    beginResetModel();
    m_shown = task.rows;
    show(m_shown);
    m_index = std::move(task.index);
    endResetModel();
    Q_EMIT rowsChanged();
}

void RowTableModel::takeOrder(RowIndex index)
{
    Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<std::size_t> rows;
    for (const QModelIndex &persistent : before)
        rows.push_back(resultRow(persistent.row()));
    m_index = std::move(index);
    QModelIndexList after;
    for (qsizetype i = 0; i < before.size(); ++i) {
        const int row = rowOf(rows[std::size_t(i)]);
        after += row < 0 ? QModelIndex() : this->index(row, before[i].column());
    }
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
    Q_EMIT rowsChanged();
}

int RowTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_index.visible().size());
}

int RowTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : m_columns;
}

} // namespace forkpoint
