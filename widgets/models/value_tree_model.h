// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/name_tree_model.h"
#include "widgets/models/value_table_model.h"

namespace forkpoint {

/// The values of a comparison as the tree that they form in the files, both sides side by side. A
/// folder says how many of the values below it differ.
class ValueTreeModel : public NameTreeModel
{
    Q_OBJECT

public:
    using Column = ValueTableModel::Column;

    /// `notes` (may be null) outlives the model.
    explicit ValueTreeModel(QObject *parent = nullptr, const PairNotes *notes = nullptr);

    void setRows(std::shared_ptr<const CheckpointComparison> comparison,
                 const std::vector<Row> &rows);
    void updateComparison(std::shared_ptr<const CheckpointComparison> comparison);

    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    std::string_view nameOf(std::size_t row) const override;
    ItemStatus statusOf(std::size_t row) const override;
    int nameColumn() const override { return int(Column::Name); }
    QVariant leafCell(std::size_t row, int column, int role) const override;
    QString moduleText(std::size_t node, int column) const override;

private:
    const PairNotes *m_notes;
    std::shared_ptr<const CheckpointComparison> m_comparison;
};

} // namespace forkpoint
