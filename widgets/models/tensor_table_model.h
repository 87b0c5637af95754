// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_filter.h"
#include "widgets/models/row_index.h"
#include "widgets/models/tensor_cells.h"

#include <QAbstractTableModel>

#include <memory>

namespace forkpoint {

/// The tensors of one comparison as a flat list, filtered and sorted by own row vectors. A newer
/// snapshot of the same comparison changes cells; it never moves rows until the user sorts.
class TensorTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setComparison(std::shared_ptr<const CheckpointComparison> comparison);
    void setFilter(const RowFilter &filter);

    const CheckpointComparison *comparison() const { return m_comparison.get(); }
    std::shared_ptr<const CheckpointComparison> sharedComparison() const { return m_comparison; }
    const std::vector<RowIndex::Row> &visibleRows() const { return m_rows.visible(); }
    const RowFilter &filter() const { return m_filter; }
    /// Row of the comparison shown at a row of the model.
    std::size_t comparisonRow(int row) const { return m_rows.visible()[std::size_t(row)]; }
    /// Row of the model, or -1 where the filter hides it.
    int rowOf(std::size_t comparisonRow) const { return m_rows.positionOf(comparisonRow); }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

Q_SIGNALS:
    void rowsChanged(); ///< other rows are visible, or in another order
    void cellsChanged();

private:
    bool sameRows(const CheckpointComparison &next) const;
    bool refilter();
    void reorder();

    std::shared_ptr<const CheckpointComparison> m_comparison;
    RowFilter m_filter;
    RowIndex m_rows;
    MagnitudeScale m_scale;
    TensorColumn m_sortColumn = TensorColumn::Name;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

} // namespace forkpoint
