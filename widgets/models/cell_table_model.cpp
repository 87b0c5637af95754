// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/cell_table_model.h"

#include "widgets/display_text.h"

namespace forkpoint {

CellTableModel::CellTableModel(QStringList titles, QStringList toolTips, QObject *parent)
    : QAbstractTableModel(parent),
      m_titles(std::move(titles)),
      m_toolTips(std::move(toolTips))
{
}

void CellTableModel::setRows(std::vector<CellRow> rows)
{
    if (rows == m_rows)
        return;
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int CellTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int CellTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_titles.size());
}

QVariant CellTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const CellRow &row = at(index.row());
    const Cell cell = std::size_t(index.column()) < row.cells.size()
        ? row.cells[std::size_t(index.column())]
        : Cell();
    switch (role) {
    case Qt::DisplayRole: return cell.text;
    case Qt::AccessibleTextRole: return cell.words.isEmpty() ? cell.text : cell.words;
    case Qt::ToolTipRole: return plainToolTip(row.toolTip);
    case Qt::TextAlignmentRole:
        if (index.column() == 0)
            return int(Qt::AlignCenter);
        return int((cell.isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case ColorRole: return int(cell.color);
    case NameRole: return row.name;
    default: return {};
    }
}

QVariant CellTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::DisplayRole)
        return m_titles.value(section);
    if (role == Qt::ToolTipRole && !m_toolTips.value(section).isEmpty())
        return plainToolTip(m_toolTips.value(section));
    return {};
}

} // namespace forkpoint
