// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/name_tree_model.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/status_look.h"

#include <map>

namespace forkpoint {

void NameTreeModel::build(const std::vector<Row> &rows)
{
    m_nodes.assign(1, Node());
    std::map<std::pair<std::size_t, std::string_view>, std::size_t> modules;
    for (Row row : rows) {
        std::string_view rest = nameOf(row);
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
}

std::size_t NameTreeModel::addNode(std::size_t parent, std::string label)
{
    const std::size_t node = m_nodes.size();
    Node &added = m_nodes.emplace_back();
    added.label = std::move(label);
    added.parent = parent;
    added.position = int(m_nodes[parent].children.size());
    m_nodes[parent].children.push_back(node);
    return node;
}

void NameTreeModel::refreshCells()
{
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

void NameTreeModel::summarise()
{
    for (Node &node : m_nodes)
        node.items = node.differing = node.unknown = 0;
    // Children come after their parents, so one backward pass sums everything up.
    for (std::size_t i = m_nodes.size() - 1; i > 0; --i) {
        Node &node = m_nodes[i];
        if (node.row != NoRow) {
            const ItemStatus status = statusOf(node.row);
            node.items = 1;
            node.unknown = status == ItemStatus::NotCompared ? 1 : 0;
            node.differing = status == ItemStatus::Identical || node.unknown > 0 ? 0 : 1;
        }
        Node &parent = m_nodes[node.parent];
        parent.items += node.items;
        parent.differing += node.differing;
        parent.unknown += node.unknown;
    }
    summariseMore();
}

QModelIndex NameTreeModel::indexOf(std::size_t resultRow) const
{
    for (std::size_t i = 1; i < m_nodes.size(); ++i) {
        if (m_nodes[i].row == resultRow)
            return createIndex(m_nodes[i].position, nameColumn(), quintptr(i));
    }
    return {};
}

std::size_t NameTreeModel::nodeOf(const QModelIndex &index) const
{
    return index.isValid() ? std::size_t(index.internalId()) : 0;
}

QModelIndex NameTreeModel::index(int row, int column, const QModelIndex &parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    const Node &node = m_nodes[nodeOf(parent)];
    return createIndex(row, column, quintptr(node.children[std::size_t(row)]));
}

QModelIndex NameTreeModel::parent(const QModelIndex &child) const
{
    const std::size_t parent = m_nodes[nodeOf(child)].parent;
    if (!child.isValid() || parent == 0)
        return {};
    return createIndex(m_nodes[parent].position, 0, quintptr(parent));
}

int NameTreeModel::rowCount(const QModelIndex &parent) const
{
    return parent.column() > 0 ? 0 : int(m_nodes[nodeOf(parent)].children.size());
}

QVariant NameTreeModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const std::size_t at = nodeOf(index);
    const Node &node = m_nodes[at];
    if (node.row == NoRow)
        return moduleCell(at, index.column(), role);
    if (role == RowRole)
        return qulonglong(node.row);
    const QVariant cell = leafCell(node.row, index.column(), role);
    if (role == Qt::DisplayRole && index.column() == nameColumn()) {
        // The last part of the name, with what stands before it as a note.
        const QString whole = displayText(nameOf(node.row)), shown = cell.toString();
        return QString(shown.left(shown.size() - whole.size()) + displayText(node.label));
    }
    return cell;
}

QVariant NameTreeModel::moduleCell(std::size_t at, int column, int role) const
{
    const Node &node = m_nodes[at];
    const Look shown = look(node.differing > 0     ? ItemStatus::Different
                                : node.unknown > 0 ? ItemStatus::NotCompared
                                                   : ItemStatus::Identical);
    const bool isSign = column == 0, isName = column == nameColumn();
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        if (isSign)
            return role == Qt::DisplayRole ? shown.sign : shown.words;
        if (isName) // a name may have nothing between two dots
            return node.label.empty() ? QStringLiteral("\"\"") : displayText(node.label);
        return moduleText(at, column);
    case Qt::ToolTipRole: return plainToolTip(moduleName(node));
    case Qt::TextAlignmentRole:
        return isSign ? QVariant(int(Qt::AlignCenter))
                      : headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
    case NameRole: return moduleName(node);
    case ColorRole:
        if (isSign)
            return int(shown.color);
        return int(node.differing > 0 ? ThemeColor::Text : ThemeColor::Muted);
    default: return {};
    }
}

QString NameTreeModel::moduleName(const Node &node) const
{
    QString name = displayText(node.label);
    for (std::size_t up = node.parent; up != 0; up = m_nodes[up].parent)
        name = displayText(m_nodes[up].label) + u'.' + name;
    return name;
}

} // namespace forkpoint
