// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_table_model.h"
#include "widgets/models/tensor_cells.h"
#include "widgets/pair_notes.h"

namespace forkpoint {

class TensorRows;

/// The tensors of one comparison as a flat list.
class TensorTableModel : public RowTableModel
{
    Q_OBJECT

public:
    /// `notes` (may be null) outlives the model.
    explicit TensorTableModel(QObject *parent = nullptr, const PairNotes *notes = nullptr);

    void setComparison(std::shared_ptr<const CheckpointComparison> comparison);
    /// What is shown: of a large result the one that was arranged last.
    std::shared_ptr<const CheckpointComparison> comparison() const;

    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    void show(std::shared_ptr<const RowSource> rows) override;

private:
    const PairNotes *m_notes;
    std::shared_ptr<const TensorRows> m_rows;
};

} // namespace forkpoint
