// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/roles.h"
#include "widgets/status_look.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace forkpoint {

/// One cell of a table that is made at once.
struct Cell
{
    QString text;
    ThemeColor color = ThemeColor::Text;
    bool isNumber = false; ///< right-aligned, in the fixed-pitch face
    QString words = {};    ///< for screen readers, where the text is a sign

    static Cell sign(const Look &look) { return {look.sign, look.color, false, look.words}; }
    bool operator==(const Cell &) const = default;
};

struct CellRow
{
    std::vector<Cell> cells;
    QString toolTip;
    QString name; ///< to copy

    bool operator==(const CellRow &) const = default;
};

/// A table of at most some thousand rows, all of whose texts are there. Its first column is a sign.
class CellTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    /// `toolTips` of the titles, as far as there are some.
    explicit CellTableModel(QStringList titles, QStringList toolTips, QObject *parent);

    void setRows(std::vector<CellRow> rows);
    const CellRow &at(int row) const { return m_rows[std::size_t(row)]; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QStringList m_titles, m_toolTips;
    std::vector<CellRow> m_rows;
};

} // namespace forkpoint
