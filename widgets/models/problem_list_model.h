// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/diagnostic.h"

#include <QAbstractTableModel>

#include <vector>

namespace forkpoint {

/// What was skipped, refused or odd, the gravest first.
class ProblemListModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum class Column { Sign, File, Place, Text, Count };

    using QAbstractTableModel::QAbstractTableModel;

    void setRows(std::vector<Diagnostic> rows);
    const Diagnostic &at(int row) const { return m_rows[std::size_t(row)]; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Diagnostic> m_rows;
};

} // namespace forkpoint
