// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/diagnostic.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace forkpoint {

/// One line of a list of findings or of problems.
struct Remark
{
    Severity severity = Severity::Note;
    QStringList cells; ///< one a column after the sign
    QString whole;     ///< all of it, for the tooltip and to copy
    QStringList names; ///< of the items it speaks of, the most telling first

    bool operator==(const Remark &) const = default;
};

/// Remarks, the gravest first: a column for the sign, then those whose titles were given.
class RemarkListModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    explicit RemarkListModel(QStringList titles, QObject *parent = nullptr);

    void setRows(std::vector<Remark> rows);
    const Remark &at(int row) const { return m_rows[std::size_t(row)]; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QStringList m_titles;
    std::vector<Remark> m_rows;
};

} // namespace forkpoint
