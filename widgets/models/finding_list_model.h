// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/finding.h"

#include <QAbstractTableModel>

#include <vector>

namespace forkpoint {

/// The findings of a comparison, the gravest first.
class FindingListModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum class Column { Sign, Certainty, Text, Where, Count };

    using QAbstractTableModel::QAbstractTableModel;

    void setRows(std::vector<Finding> rows);
    const Finding &at(int row) const { return m_rows[std::size_t(row)]; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Finding> m_rows;
};

} // namespace forkpoint
