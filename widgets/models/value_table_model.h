// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_filter.h"
#include "widgets/models/row_index.h"

#include <QAbstractTableModel>

#include <memory>

namespace forkpoint {

/// Everything that is not a tensor: name, both values, class. The rules for snapshots, filter and
/// sort are those of TensorTableModel.
class ValueTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum class Column { Sign, Name, A, B, Class, Count };

    using QAbstractTableModel::QAbstractTableModel;

    void setComparison(std::shared_ptr<const CheckpointComparison> comparison);
    void setFilter(const RowFilter &filter);
    std::size_t comparisonRow(int row) const { return m_rows.visible()[std::size_t(row)]; }
    int rowOf(std::size_t comparisonRow) const { return m_rows.positionOf(comparisonRow); }
    std::size_t total() const { return m_rows.total(); }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

Q_SIGNALS:
    void rowsChanged();

private:
    bool sameRows(const CheckpointComparison &next) const;
    bool accepts(const ValueRow &row) const;
    bool refilter();
    void reorder();

    std::shared_ptr<const CheckpointComparison> m_comparison;
    RowFilter m_filter;
    RowIndex m_rows;
    Column m_sortColumn = Column::Name;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

} // namespace forkpoint
