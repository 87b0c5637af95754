// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_source.h"

#include <QAbstractItemModel>

#include <memory>
#include <string>
#include <vector>

namespace forkpoint {

/// Rows of a result as a tree of modules, their names split at dots. What a module says of the rows
/// below it, and what a row shows, is up to the derived model.
class NameTreeModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    /// Deeper names keep the rest of their dots in the leaf: depth in a file is not ours to trust.
    static constexpr int MaximumDepth = 64;

    using QAbstractItemModel::QAbstractItemModel;

    QModelIndex indexOf(std::size_t resultRow) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const final;
    QModelIndex parent(const QModelIndex &child) const final;
    int rowCount(const QModelIndex &parent = {}) const final;
    QVariant data(const QModelIndex &index, int role) const final;

protected:
    static constexpr std::size_t NoRow = ~std::size_t(0);

    struct Node
    {
        std::string label;
        std::size_t parent = 0;
        int position = 0; ///< among the parent's children
        std::vector<std::size_t> children;
        std::size_t row = NoRow; ///< of the result, for a leaf
        // Of a module, over everything below it:
        std::uint64_t items = 0, differing = 0, unknown = 0;
    };

    /// Builds the tree, in the order that children get; between begin and end of a reset.
    void build(const std::vector<Row> &rows);
    /// Sums up again and says that every cell changed.
    void refreshCells();

    const std::vector<Node> &nodes() const { return m_nodes; }
    QString moduleName(const Node &node) const;

    virtual std::string_view nameOf(std::size_t row) const = 0;
    virtual ItemStatus statusOf(std::size_t row) const = 0;
    virtual int nameColumn() const = 0;
    virtual QVariant leafCell(std::size_t row, int column, int role) const = 0;
    /// Text of a module's cell, beside its name and sign.
    virtual QString moduleText(std::size_t node, int column) const = 0;
    virtual QVariant moduleCell(std::size_t node, int column, int role) const;
    /// Sums of the derived model; children come after their parents.
    virtual void summariseMore() {}

private:
    std::size_t nodeOf(const QModelIndex &index) const;
    std::size_t addNode(std::size_t parent, std::string label);
    void summarise();

    std::vector<Node> m_nodes = std::vector<Node>(1); ///< 0 is the root; parents before children
};

} // namespace forkpoint
