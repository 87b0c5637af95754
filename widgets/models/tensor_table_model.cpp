// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tensor_table_model.h"

namespace forkpoint {

void TensorTableModel::setComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    if (comparison && m_comparison && sameRows(*comparison)) {
        m_comparison = std::move(comparison);
        m_scale = MagnitudeScale::of(*m_comparison);
        if (!refilter() && rowCount() > 0)
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        Q_EMIT cellsChanged();
        return;
    }
    beginResetModel();
    m_comparison = std::move(comparison);
    m_scale = m_comparison ? MagnitudeScale::of(*m_comparison) : MagnitudeScale();
    m_rows.reset(m_comparison ? m_comparison->tensors.size() : 0);
    reorder();
    endResetModel();
    Q_EMIT rowsChanged();
}

bool TensorTableModel::sameRows(const CheckpointComparison &next) const
{
    const auto &a = m_comparison->tensors, &b = next.tensors;
    return a.size() == b.size()
        && std::equal(a.begin(), a.end(), b.begin(),
                      [](const TensorRow &x, const TensorRow &y) { return x.name == y.name; });
}

void TensorTableModel::setFilter(const RowFilter &filter)
{
    m_filter = filter;
    refilter();
}

/// True if other rows are visible now (the model was reset).
bool TensorTableModel::refilter()
{
    if (!m_comparison)
        return false;
    RowIndex rows = m_rows;
    const auto accept = [this](RowIndex::Row row) {
        const TensorRow &tensor = m_comparison->tensors[row];
        return m_filter.acceptsStatus(tensor.status, m_comparison->finished)
            && m_filter.acceptsName(tensor.name);
    };
    if (!rows.filter(accept))
        return false;
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
    Q_EMIT rowsChanged();
    return true;
}

void TensorTableModel::reorder()
{
    if (!m_comparison)
        return;
    const auto &tensors = m_comparison->tensors;
    const bool descending = m_sortOrder == Qt::DescendingOrder;
    m_rows.sort([&](RowIndex::Row a, RowIndex::Row b) {
        const int order = compareTensors(tensors[a], tensors[b], m_sortColumn);
        if (order != 0)
            return descending ? order > 0 : order < 0;
        return naturalCompare(tensors[a].name, tensors[b].name) < 0;
    });
    m_rows.filter([&](RowIndex::Row row) {
        return m_filter.acceptsStatus(tensors[row].status, m_comparison->finished)
            && m_filter.acceptsName(tensors[row].name);
    });
}

void TensorTableModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= int(TensorColumn::Count))
        return;
    m_sortColumn = TensorColumn(column);
    m_sortOrder = order;
    Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<std::size_t> rows;
    for (const QModelIndex &persistent : before)
        rows.push_back(comparisonRow(persistent.row()));
    reorder();
    QModelIndexList after;
    for (qsizetype i = 0; i < before.size(); ++i)
        after += index(rowOf(rows[std::size_t(i)]), before[i].column());
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
    Q_EMIT rowsChanged();
}

int TensorTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.visible().size());
}

int TensorTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(TensorColumn::Count);
}

QVariant TensorTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const std::size_t row = comparisonRow(index.row());
    if (role == RowRole)
        return qulonglong(row);
    return tensorCell(m_comparison->tensors[row], TensorColumn(index.column()), role, m_scale);
}

QVariant TensorTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    return tensorHeader(TensorColumn(section), role);
}

} // namespace forkpoint
