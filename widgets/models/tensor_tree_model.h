// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/name_tree_model.h"
#include "widgets/models/tensor_cells.h"
#include "widgets/pair_notes.h"

namespace forkpoint {

/// The tensors of a comparison as a tree of modules. A module shows how many of its tensors differ
/// and the largest numbers below it.
class TensorTreeModel : public NameTreeModel
{
    Q_OBJECT

public:
    /// `notes` (may be null) outlives the model.
    explicit TensorTreeModel(QObject *parent = nullptr, const PairNotes *notes = nullptr);

    /// The rows to show, in the order that children get.
    void setRows(std::shared_ptr<const CheckpointComparison> comparison,
                 const std::vector<Row> &rows);
    /// New numbers for the rows that are shown.
    void updateComparison(std::shared_ptr<const CheckpointComparison> comparison);

    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    std::string_view nameOf(std::size_t row) const override;
    ItemStatus statusOf(std::size_t row) const override;
    int nameColumn() const override { return int(TensorColumn::Name); }
    QVariant leafCell(std::size_t row, int column, int role) const override;
    QString moduleText(std::size_t node, int column) const override;
    QVariant moduleCell(std::size_t node, int column, int role) const override;
    void summariseMore() override;

private:
    struct Largest
    {
        std::uint64_t ulp = 0;
        double abs = 0.0;
    };

    const PairNotes *m_notes;
    std::shared_ptr<const CheckpointComparison> m_comparison;
    std::vector<Largest> m_largest; ///< a node
    MagnitudeScale m_scale;
};

} // namespace forkpoint
