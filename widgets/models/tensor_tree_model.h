// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_source.h"
#include "widgets/models/tensor_cells.h"

#include <QAbstractItemModel>

#include <memory>
#include <vector>

namespace forkpoint {

/// The same tensors as a tree of modules, names split at dots. A module shows how many of its
/// tensors differ and the largest numbers below it.
class TensorTreeModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    /// Deeper names keep the rest of their dots in the leaf: depth in a file is not ours to trust.
    static constexpr int MaximumDepth = 64;

    using QAbstractItemModel::QAbstractItemModel;

    /// The rows to show, in the order that children get.
    void setRows(std::shared_ptr<const CheckpointComparison> comparison,
                 const std::vector<Row> &rows);
    /// New numbers for the rows that are shown.
    void updateComparison(std::shared_ptr<const CheckpointComparison> comparison);
    QModelIndex indexOf(std::size_t resultRow) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &child) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    static constexpr std::size_t NoRow = ~std::size_t(0);

    struct Node
    {
        std::string label;
        std::size_t parent = 0;
        int position = 0; ///< among the parent's children
        std::vector<std::size_t> children;
        std::size_t row = NoRow; ///< of the comparison, for a tensor
        // Of a module, over everything below it:
        std::uint64_t tensors = 0, differing = 0, unknown = 0;
        std::uint64_t maxUlp = 0;
        double maxAbs = 0.0;
    };

    std::size_t nodeOf(const QModelIndex &index) const;
    std::size_t addNode(std::size_t parent, std::string label);
    void summarise();
    QVariant moduleCell(const Node &node, TensorColumn column, int role) const;
    QString moduleText(const Node &node, TensorColumn column) const;
    QString moduleName(const Node &node) const;

    std::shared_ptr<const CheckpointComparison> m_comparison;
    std::vector<Node> m_nodes = std::vector<Node>(1); ///< 0 is the root; parents before children
    MagnitudeScale m_scale;
};

} // namespace forkpoint
