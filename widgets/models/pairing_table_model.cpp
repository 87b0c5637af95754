// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/pairing_table_model.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/status_look.h"

namespace forkpoint {

class PairingRows final : public RowSource
{
public:
    explicit PairingRows(std::shared_ptr<const CheckpointComparison> shown)
        : comparison(std::move(shown))
    {
    }

    std::size_t size() const override { return comparison->tensors.size(); }
    std::string_view name(std::size_t row) const override { return comparison->tensors[row].name; }
    bool finished() const override { return comparison->finished; }

    void prepare() override
    {
        m_marks.clear();
        // "Only differing" asks here for those that met nobody.
        for (const TensorRow &row : comparison->tensors)
            m_marks.push_back(markOf(row.pairedBy == PairedBy::Unpaired ? ItemStatus::Different
                                                                        : ItemStatus::Identical,
                                     row.stateClass, false, false));
    }

    std::vector<std::uint64_t> keys(int column) const override
    {
        using Column = PairingTableModel::Column;
        std::vector<std::uint64_t> keys;
        for (const TensorRow &row : comparison->tensors) {
            switch (Column(column)) {
            case Column::Sign:
            case Column::Rule:
            case Column::Reason: keys.push_back(std::uint64_t(row.pairedBy)); break;
            case Column::B: keys.push_back(row.b ? *row.b : ~std::uint64_t(0)); break;
            default: break; // by name
            }
        }
        return keys;
    }

    std::shared_ptr<const CheckpointComparison> comparison;
};

namespace {

bool isUnpaired(const TensorRow &row)
{
    return row.pairedBy == PairedBy::Unpaired;
}

QString cellText(const TensorRow &row, PairingTableModel::Column column)
{
    using Column = PairingTableModel::Column;
    switch (column) {
    case Column::Sign:
        return isUnpaired(row) ? sign(row.a ? ItemStatus::OnlyInA : ItemStatus::OnlyInB)
                               : QStringLiteral("⇄");
    case Column::A: return row.a ? displayText(row.nameA) : QStringLiteral("–");
    case Column::B: return row.b ? displayText(row.nameB) : QStringLiteral("–");
    case Column::Rule: return pairedByText(row.pairedBy);
    case Column::Reason: return displayText(row.pairedReason);
    case Column::Count: break;
    }
    return {};
}

ThemeColor cellColor(const TensorRow &row, PairingTableModel::Column column)
{
    using Column = PairingTableModel::Column;
    switch (column) {
    case Column::Sign:
        if (!isUnpaired(row))
            return ThemeColor::Muted;
        return row.a ? ThemeColor::A : ThemeColor::B;
    case Column::A: return row.a ? ThemeColor::Text : ThemeColor::Muted;
    case Column::B: return row.b ? ThemeColor::Text : ThemeColor::Muted;
    case Column::Rule:
        return isUnpaired(row) ? ThemeColor::Unknown
            : row.pairedBy == PairedBy::Exact || row.pairedBy == PairedBy::Name ? ThemeColor::Muted
                                                                                : ThemeColor::Text;
    default: return ThemeColor::Muted;
    }
}

} // namespace

QString pairedByText(PairedBy by)
{
    return by == PairedBy::Unpaired ? PairingTableModel::tr("unpaired") : qs(toString(by));
}

PairingTableModel::PairingTableModel(QObject *parent)
    : RowTableModel(int(Column::Count), int(Column::A), parent)
{
}

void PairingTableModel::setComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    setRows(comparison ? std::make_shared<PairingRows>(std::move(comparison)) : nullptr);
}

void PairingTableModel::show(std::shared_ptr<const RowSource> rows)
{
    m_rows = std::static_pointer_cast<const PairingRows>(std::move(rows));
}

QVariant PairingTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const std::size_t position = resultRow(index.row());
    const TensorRow &row = m_rows->comparison->tensors[position];
    const auto column = Column(index.column());
    switch (role) {
    case Qt::DisplayRole: return cellText(row, column);
    case Qt::AccessibleTextRole:
        return column == Column::Sign ? pairedByText(row.pairedBy) : cellText(row, column);
    case Qt::ToolTipRole:
        return plainToolTip(tr("A: %1\nB: %2\n%3 %4")
                                .arg(cellText(row, Column::A), cellText(row, Column::B),
                                     pairedByText(row.pairedBy), cellText(row, Column::Reason)));
    case Qt::TextAlignmentRole:
        return int(column == Column::Sign ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case ColorRole: return int(cellColor(row, column));
    case NameRole: return displayText(row.name);
    case RowRole: return qulonglong(position);
    default: return {};
    }
}

QVariant PairingTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (Column(section)) {
    case Column::A: return tr("in A");
    case Column::B: return tr("in B");
    case Column::Rule: return tr("met by");
    case Column::Reason: return tr("why");
    default: return {};
    }
}

} // namespace forkpoint
