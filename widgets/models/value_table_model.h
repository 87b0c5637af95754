// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_table_model.h"

namespace forkpoint {

class ValueRows;

/// Everything that is not a tensor: name, both values, class.
class ValueTableModel : public RowTableModel
{
    Q_OBJECT

public:
    enum class Column { Sign, Name, A, B, Class, Count };

    explicit ValueTableModel(QObject *parent = nullptr);

    void setComparison(std::shared_ptr<const CheckpointComparison> comparison);

    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    void show(std::shared_ptr<const RowSource> rows) override;

private:
    std::shared_ptr<const ValueRows> m_rows;
};

} // namespace forkpoint
