// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tensor_table_model.h"

namespace forkpoint {

/// The tensors of a comparison, with what takes one pass over all of them.
class TensorRows final : public RowSource
{
public:
    explicit TensorRows(std::shared_ptr<const CheckpointComparison> shown)
        : comparison(std::move(shown))
    {
    }

    std::size_t size() const override { return comparison->tensors.size(); }
    std::string_view name(std::size_t row) const override { return comparison->tensors[row].name; }
    bool finished() const override { return comparison->finished; }

    void prepare() override
    {
        m_marks.clear();
        m_marks.reserve(size());
        for (const TensorRow &row : comparison->tensors)
            m_marks.push_back(markOf(row.status, row.stateClass == StateClass::Recipe));
        scale = MagnitudeScale::of(*comparison);
    }

    std::vector<std::uint64_t> keys(int column) const override
    {
        if (TensorColumn(column) == TensorColumn::Name)
            return {};
        return tensorKeys(comparison->tensors, TensorColumn(column));
    }

    std::shared_ptr<const CheckpointComparison> comparison;
    MagnitudeScale scale;
};

TensorTableModel::TensorTableModel(QObject *parent)
    : RowTableModel(int(TensorColumn::Count), int(TensorColumn::Name), parent)
{
}

void TensorTableModel::setComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    setRows(comparison ? std::make_shared<TensorRows>(std::move(comparison)) : nullptr);
}

std::shared_ptr<const CheckpointComparison> TensorTableModel::comparison() const
{
    return m_rows ? m_rows->comparison : nullptr;
}

void TensorTableModel::show(std::shared_ptr<const RowSource> rows)
{
    m_rows = std::static_pointer_cast<const TensorRows>(std::move(rows));
}

QVariant TensorTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const std::size_t row = resultRow(index.row());
    if (role == RowRole)
        return qulonglong(row);
    return tensorCell(m_rows->comparison->tensors[row], TensorColumn(index.column()), role,
                      m_rows->scale);
}

QVariant TensorTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    return tensorHeader(TensorColumn(section), role);
}

} // namespace forkpoint
