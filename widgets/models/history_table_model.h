// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/tensor_history.h"

#include <QAbstractTableModel>

#include <memory>

namespace forkpoint {

/// One pair of tensors over the steps, a row a step.
class HistoryTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum class Column {
        Sign,
        AtStep,
        Differs,
        MaxAbs,
        MaxUlp,
        Relative,
        Trend,
        UpdateA,
        UpdateB,
        Count
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setHistory(std::shared_ptr<const TensorHistory> history);
    const TensorHistory *history() const { return m_history.get(); }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(int row, Column column) const;
    QString toolTip(int row) const;

    std::shared_ptr<const TensorHistory> m_history;
};

} // namespace forkpoint
