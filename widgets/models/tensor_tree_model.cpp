// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tensor_tree_model.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace forkpoint {

void TensorTreeModel::setRows(std::shared_ptr<const CheckpointComparison> comparison,
                              const std::vector<Row> &rows)
{
    beginResetModel();
    m_comparison = std::move(comparison);
    m_scale = m_comparison ? MagnitudeScale::of(*m_comparison) : MagnitudeScale();
    m_nodes.assign(1, Node());
    std::map<std::pair<std::size_t, std::string_view>, std::size_t> modules;
    for (Row row : rows) {
        std::string_view rest = m_comparison->tensors[row].name;
        std::size_t parent = 0;
        for (int depth = 0; depth < MaximumDepth; ++depth) {
            const std::size_t dot = rest.find('.');
            if (dot == std::string_view::npos)
                break;
            const std::string_view label = rest.substr(0, dot);
            const auto [entry, isNew] = modules.try_emplace({parent, label}, m_nodes.size());
            if (isNew)
                addNode(parent, std::string(label));
            parent = entry->second;
            rest.remove_prefix(dot + 1);
        }
        m_nodes[addNode(parent, std::string(rest))].row = row;
    }
    summarise();
    endResetModel();
}

std::size_t TensorTreeModel::addNode(std::size_t parent, std::string label)
{
    const std::size_t node = m_nodes.size();
    Node &added = m_nodes.emplace_back();
    added.label = std::move(label);
    added.parent = parent;
    added.position = int(m_nodes[parent].children.size());
    m_nodes[parent].children.push_back(node);
    return node;
}

void TensorTreeModel::updateComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    if (!comparison || !m_comparison || comparison->tensors.size() != m_comparison->tensors.size())
        return;
    m_comparison = std::move(comparison);
    m_scale = MagnitudeScale::of(*m_comparison);
    summarise();
    for (std::size_t node = 0; node < m_nodes.size(); ++node) {
        if (m_nodes[node].children.empty())
            continue;
        const QModelIndex parentIndex =
            node == 0 ? QModelIndex() : createIndex(m_nodes[node].position, 0, quintptr(node));
        Q_EMIT dataChanged(index(0, 0, parentIndex),
                           index(rowCount(parentIndex) - 1, columnCount() - 1, parentIndex));
    }
}

void TensorTreeModel::summarise()
{
    for (Node &node : m_nodes) {
        node.tensors = node.differing = node.unknown = node.maxUlp = 0;
        node.maxAbs = 0.0;
    }
    // Children come after their parents, so one backward pass sums everything up.
    for (std::size_t i = m_nodes.size() - 1; i > 0; --i) {
        Node &node = m_nodes[i];
        if (node.row != NoRow) {
            const TensorRow &row = m_comparison->tensors[node.row];
            node.tensors = 1;
            node.unknown = row.status == ItemStatus::NotCompared ? 1 : 0;
            node.differing = row.status == ItemStatus::Identical || node.unknown > 0 ? 0 : 1;
            node.maxUlp = row.stats ? row.stats->maxUlp : 0;
            node.maxAbs = maxAbsOf(row).value_or(0.0);
        }
        Node &parent = m_nodes[node.parent];
        parent.tensors += node.tensors;
        parent.differing += node.differing;
        parent.unknown += node.unknown;
        parent.maxUlp = std::max(parent.maxUlp, node.maxUlp);
        parent.maxAbs = std::max(parent.maxAbs, node.maxAbs);
    }
}

QModelIndex TensorTreeModel::indexOf(std::size_t resultRow) const
{
    for (std::size_t i = 1; i < m_nodes.size(); ++i) {
        if (m_nodes[i].row == resultRow)
            return createIndex(m_nodes[i].position, int(TensorColumn::Name), quintptr(i));
    }
    return {};
}

std::size_t TensorTreeModel::nodeOf(const QModelIndex &index) const
{
    return index.isValid() ? std::size_t(index.internalId()) : 0;
}

QModelIndex TensorTreeModel::index(int row, int column, const QModelIndex &parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    const Node &node = m_nodes[nodeOf(parent)];
    return createIndex(row, column, quintptr(node.children[std::size_t(row)]));
}

QModelIndex TensorTreeModel::parent(const QModelIndex &child) const
{
    const std::size_t parent = m_nodes[nodeOf(child)].parent;
    if (!child.isValid() || parent == 0)
        return {};
    return createIndex(m_nodes[parent].position, 0, quintptr(parent));
}

int TensorTreeModel::rowCount(const QModelIndex &parent) const
{
    return parent.column() > 0 ? 0 : int(m_nodes[nodeOf(parent)].children.size());
}

int TensorTreeModel::columnCount(const QModelIndex &) const
{
    return int(TensorColumn::Count);
}

QVariant TensorTreeModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Node &node = m_nodes[nodeOf(index)];
    const TensorColumn column = TensorColumn(index.column());
    if (node.row == NoRow)
        return moduleCell(node, column, role);
    if (role == RowRole)
        return qulonglong(node.row);
    if (role == Qt::DisplayRole && column == TensorColumn::Name)
        return displayText(node.label);
    return tensorCell(m_comparison->tensors[node.row], column, role, m_scale);
}

QString TensorTreeModel::moduleText(const Node &node, TensorColumn column) const
{
    switch (column) {
    case TensorColumn::Sign:
        if (node.differing > 0)
            return sign(ItemStatus::Different);
        return sign(node.unknown > 0 ? ItemStatus::NotCompared : ItemStatus::Identical);
    case TensorColumn::Name: return displayText(node.label);
    case TensorColumn::Differs:
        return groupedText(node.differing) + tr(" of ") + groupedText(node.tensors);
    case TensorColumn::MaxUlp: return QString::number(node.maxUlp);
    case TensorColumn::MaxAbs: return magnitudeText(node.maxAbs);
    default: return {};
    }
}

QVariant TensorTreeModel::moduleCell(const Node &node, TensorColumn column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: return moduleText(node, column);
    case Qt::ToolTipRole: return plainToolTip(moduleName(node));
    case Qt::TextAlignmentRole:
        if (column == TensorColumn::Sign)
            return int(Qt::AlignCenter);
        return tensorHeader(column, role);
    case NameRole: return moduleName(node);
    case ColorRole:
        if (column == TensorColumn::Sign) {
            if (node.differing > 0)
                return int(ThemeColor::Difference);
            return int(node.unknown > 0 ? ThemeColor::Unknown : ThemeColor::Equal);
        }
        if (node.differing == 0)
            return int(ThemeColor::Muted);
        return int(column == TensorColumn::MaxAbs ? ThemeColor::Difference : ThemeColor::Text);
    case BarRole:
        if (column == TensorColumn::MaxAbs && node.maxAbs > 0.0 && std::isfinite(node.maxAbs))
            return m_scale.fraction(node.maxAbs);
        return {};
    default: return {};
    }
}

QString TensorTreeModel::moduleName(const Node &node) const
{
    QString name = displayText(node.label);
    for (std::size_t up = node.parent; up != 0; up = m_nodes[up].parent)
        name = displayText(m_nodes[up].label) + u'.' + name;
    return name;
}

QVariant TensorTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    return tensorHeader(TensorColumn(section), role);
}

} // namespace forkpoint
