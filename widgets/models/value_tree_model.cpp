// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/value_tree_model.h"

#include "widgets/display_text.h"
#include "widgets/models/noted_cells.h"

namespace forkpoint {

ValueTreeModel::ValueTreeModel(QObject *parent, const PairNotes *notes)
    : NameTreeModel(parent),
      m_notes(notes)
{
}

void ValueTreeModel::setRows(std::shared_ptr<const CheckpointComparison> comparison,
                             const std::vector<Row> &rows)
{
    beginResetModel();
    m_comparison = std::move(comparison);
    build(rows);
    endResetModel();
}

void ValueTreeModel::updateComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    if (!comparison || !m_comparison || comparison->values.size() != m_comparison->values.size())
        return;
    m_comparison = std::move(comparison);
    refreshCells();
}

std::string_view ValueTreeModel::nameOf(std::size_t row) const
{
    return m_comparison->values[row].name;
}

ItemStatus ValueTreeModel::statusOf(std::size_t row) const
{
    return m_comparison->values[row].status;
}

int ValueTreeModel::columnCount(const QModelIndex &) const
{
    return int(Column::Count);
}

QVariant ValueTreeModel::leafCell(std::size_t row, int column, int role) const
{
    const ValueRow &value = m_comparison->values[row];
    const QVariant cell = valueCell(value, Column(column), role);
    if (column == nameColumn())
        return notedName(m_notes, value.name, role, cell);
    return column == int(Column::Sign) ? notedSign(m_notes, value.name, role, cell) : cell;
}

QString ValueTreeModel::moduleText(std::size_t at, int column) const
{
    const Node &node = nodes()[at];
    if (Column(column) != Column::A)
        return {};
    const QString count = countedText(node.items, "value", "values");
    return node.differing == 0 ? count : count + tr(", %1 differ").arg(groupedText(node.differing));
}

QVariant ValueTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    return orientation == Qt::Horizontal ? valueHeader(Column(section), role) : QVariant();
}

} // namespace forkpoint
