// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_table_model.h"
#include "widgets/pair_notes.h"

namespace forkpoint {

class ValueRows;

/// Everything that is not a tensor: name, both values, class.
class ValueTableModel : public RowTableModel
{
    Q_OBJECT

public:
    enum class Column { Sign, Name, A, B, Class, Count };

    /// `notes` (may be null) outlives the model.
    explicit ValueTableModel(QObject *parent = nullptr, const PairNotes *notes = nullptr);

    void setComparison(std::shared_ptr<const CheckpointComparison> comparison);
    std::shared_ptr<const CheckpointComparison> comparison() const; ///< what is shown

    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    void show(std::shared_ptr<const RowSource> rows) override;

private:
    const PairNotes *m_notes;
    std::shared_ptr<const ValueRows> m_rows;
};

/// What a table or tree shows of one value.
QVariant valueCell(const ValueRow &row, ValueTableModel::Column column, int role);
QVariant valueHeader(ValueTableModel::Column column, int role);

} // namespace forkpoint
