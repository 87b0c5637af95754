// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tensor_table_model.h"

#include "widgets/models/noted_cells.h"

namespace forkpoint {

/// The tensors of a comparison, with what takes one pass over all of them.
class TensorRows final : public RowSource
{
public:
    TensorRows(std::shared_ptr<const CheckpointComparison> shown, const PairNotes *notes)
        : comparison(std::move(shown)),
          m_pinned(notes ? notes->pinned() : PairNotes::Names()),
          m_expected(notes ? notes->expected() : PairNotes::Names())
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
            m_marks.push_back(markOf(row.status, row.stateClass, m_pinned.contains(row.name),
                                     m_expected.contains(row.name)));
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

private:
    PairNotes::Names m_pinned, m_expected; ///< of the time when it was made
};

TensorTableModel::TensorTableModel(QObject *parent, const PairNotes *notes)
    : RowTableModel(int(TensorColumn::Count), int(TensorColumn::Name), parent),
      m_notes(notes)
{
}

void TensorTableModel::setComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    setRows(comparison ? std::make_shared<TensorRows>(std::move(comparison), m_notes) : nullptr);
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
    const TensorRow &tensor = m_rows->comparison->tensors[row];
    const auto column = TensorColumn(index.column());
    const QVariant cell = tensorCell(tensor, column, role, m_rows->scale);
    if (column == TensorColumn::Name)
        return notedName(m_notes, tensor.name, role, cell);
    return column == TensorColumn::Sign ? notedSign(m_notes, tensor.name, role, cell) : cell;
}

QVariant TensorTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    return tensorHeader(TensorColumn(section), role);
}

} // namespace forkpoint
