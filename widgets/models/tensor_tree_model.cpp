// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tensor_tree_model.h"

#include "widgets/display_text.h"
#include "widgets/models/noted_cells.h"
#include "widgets/roles.h"

#include <algorithm>
#include <cmath>

namespace forkpoint {

TensorTreeModel::TensorTreeModel(QObject *parent, const PairNotes *notes)
    : NameTreeModel(parent),
      m_notes(notes)
{
}

void TensorTreeModel::setRows(std::shared_ptr<const CheckpointComparison> comparison,
                              const std::vector<Row> &rows)
{
    beginResetModel();
    m_comparison = std::move(comparison);
    m_scale = m_comparison ? MagnitudeScale::of(*m_comparison) : MagnitudeScale();
    build(rows);
    endResetModel();
}

void TensorTreeModel::updateComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    if (!comparison || !m_comparison || comparison->tensors.size() != m_comparison->tensors.size())
        return;
    m_comparison = std::move(comparison);
    m_scale = MagnitudeScale::of(*m_comparison);
    refreshCells();
}

std::string_view TensorTreeModel::nameOf(std::size_t row) const
{
    return m_comparison->tensors[row].name;
}

ItemStatus TensorTreeModel::statusOf(std::size_t row) const
{
    return m_comparison->tensors[row].status;
}

void TensorTreeModel::summariseMore()
{
    m_largest.assign(nodes().size(), Largest());
    for (std::size_t i = nodes().size() - 1; i > 0; --i) {
        const Node &node = nodes()[i];
        if (node.row != NoRow) {
            const TensorRow &row = m_comparison->tensors[node.row];
            m_largest[i] = {row.stats ? row.stats->maxUlp : 0, maxAbsOf(row).value_or(0.0)};
        }
        Largest &parent = m_largest[node.parent];
        parent.ulp = std::max(parent.ulp, m_largest[i].ulp);
        parent.abs = std::max(parent.abs, m_largest[i].abs);
    }
}

int TensorTreeModel::columnCount(const QModelIndex &) const
{
    return int(TensorColumn::Count);
}

QVariant TensorTreeModel::leafCell(std::size_t row, int column, int role) const
{
    const TensorRow &tensor = m_comparison->tensors[row];
    const QVariant cell = tensorCell(tensor, TensorColumn(column), role, m_scale);
    if (column == nameColumn())
        return notedName(m_notes, tensor.name, role, cell);
    return column == int(TensorColumn::Sign) ? notedSign(m_notes, tensor.name, role, cell) : cell;
}

QString TensorTreeModel::moduleText(std::size_t at, int column) const
{
    const Node &node = nodes()[at];
    switch (TensorColumn(column)) {
    case TensorColumn::Differs:
        return groupedText(node.differing) + tr(" of ") + groupedText(node.items);
    case TensorColumn::MaxUlp: return groupedText(m_largest[at].ulp);
    case TensorColumn::MaxAbs: return magnitudeText(m_largest[at].abs);
    default: return {};
    }
}

QVariant TensorTreeModel::moduleCell(std::size_t at, int column, int role) const
{
    if (TensorColumn(column) == TensorColumn::Differs && role == BarRole)
        return 0.0;
    if (TensorColumn(column) == TensorColumn::MaxAbs) {
        const double largest = m_largest[at].abs;
        if (role == BarRole)
            return largest > 0.0 && std::isfinite(largest) ? m_scale.fraction(largest) : 0.0;
        if (role == ColorRole && nodes()[at].differing > 0)
            return int(ThemeColor::Difference);
    }
    return NameTreeModel::moduleCell(at, column, role);
}

QVariant TensorTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    return tensorHeader(TensorColumn(section), role);
}

} // namespace forkpoint
