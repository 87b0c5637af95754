// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_table_model.h"

namespace forkpoint {

class PairingRows;

/// Which tensor of A met which of B, and by which rule.
class PairingTableModel : public RowTableModel
{
    Q_OBJECT

public:
    enum class Column { Sign, A, B, Rule, Reason, Count };

    explicit PairingTableModel(QObject *parent = nullptr);

    void setComparison(std::shared_ptr<const CheckpointComparison> comparison);

    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    void show(std::shared_ptr<const RowSource> rows) override;

private:
    std::shared_ptr<const PairingRows> m_rows;
};

/// "exact", "rename", ..., "unpaired"
QString pairedByText(PairedBy by);

} // namespace forkpoint
