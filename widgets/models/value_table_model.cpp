// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/value_table_model.h"

#include "widgets/display_text.h"
#include "widgets/models/natural_order.h"
#include "widgets/models/noted_cells.h"
#include "widgets/roles.h"
#include "widgets/status_look.h"

#include <algorithm>
#include <numeric>

namespace forkpoint {

namespace {

constexpr int MaximumCell = 200; ///< characters; the tooltip has the rest

std::string valueText(const std::optional<Value> &value)
{
    return value ? value->toDisplay() : std::string();
}

QString cellText(const ValueRow &row, ValueTableModel::Column column)
{
    using Column = ValueTableModel::Column;
    switch (column) {
    case Column::Sign: return sign(row.status);
    case Column::Name: return displayText(row.name);
    case Column::A:
        return row.valueA ? elidedMiddle(displayText(valueText(row.valueA)), MaximumCell)
                          : ValueTableModel::tr("not in A");
    case Column::B:
        return row.valueB ? elidedMiddle(displayText(valueText(row.valueB)), MaximumCell)
                          : ValueTableModel::tr("not in B");
    case Column::Class: return qs(toString(row.stateClass));
    case Column::Count: break;
    }
    return {};
}

QString toolTip(const ValueRow &row)
{
    QString text = displayText(row.name) + u'\n' + describe(row.status);
    if (row.withinTolerance)
        text += ValueTableModel::tr(" (within the tolerance asked for)");
    if (!row.reason.empty())
        text += QStringLiteral(": ") + qs(row.reason);
    if (isContext(row.stateClass))
        text += ValueTableModel::tr("; context, never decides the outcome");
    if (row.valueA)
        text += QStringLiteral("\nA (%1): ").arg(qs(toString(row.valueA->type)))
            + displayText(valueText(row.valueA));
    if (row.valueB)
        text += QStringLiteral("\nB (%1): ").arg(qs(toString(row.valueB->type)))
            + displayText(valueText(row.valueB));
    return plainToolTip(text);
}

ThemeColor cellColor(const ValueRow &row, ValueTableModel::Column column)
{
    using Column = ValueTableModel::Column;
    const bool differs = row.status == ItemStatus::Different;
    switch (column) {
    case Column::Sign: return look(row.status).color;
    case Column::A:
        if (!row.valueA)
            return ThemeColor::Muted;
        return differs ? ThemeColor::A : ThemeColor::Text;
    case Column::B:
        if (!row.valueB)
            return ThemeColor::Muted;
        return differs ? ThemeColor::B : ThemeColor::Text;
    case Column::Class: return ThemeColor::Muted;
    default: return ThemeColor::Text;
    }
}

/// Numbers by their value, everything else by its text.
std::optional<double> numberOf(const std::optional<Value> &value)
{
    if (!value)
        return std::nullopt;
    if (const auto *i = std::get_if<std::int64_t>(&value->data))
        return double(*i);
    if (const auto *u = std::get_if<std::uint64_t>(&value->data))
        return double(*u);
    if (const auto *d = std::get_if<double>(&value->data))
        return *d == *d ? std::optional<double>(*d) : std::nullopt;
    return std::nullopt;
}

int compareValues(const std::optional<Value> &a, const std::optional<Value> &b)
{
    const std::optional<double> x = numberOf(a), y = numberOf(b);
    if (x && y)
        return *x < *y ? -1 : (*y < *x ? 1 : 0);
    if (x.has_value() != y.has_value())
        return x ? -1 : 1; // numbers before texts
    return naturalCompare(valueText(a), valueText(b));
}

/// The ranks of one side's values: equal ones share a rank, so that names decide among them.
std::vector<std::uint64_t> ranksOf(const std::vector<ValueRow> &rows,
                                   std::optional<Value> ValueRow::*side)
{
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto compare = [&](std::size_t a, std::size_t b) {
        return compareValues(rows[a].*side, rows[b].*side);
    };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
    std::vector<std::uint64_t> ranks(rows.size());
    std::uint64_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        rank += i > 0 && compare(order[i - 1], order[i]) != 0 ? 1 : 0;
        ranks[order[i]] = rank;
    }
    return ranks;
}

} // namespace

class ValueRows final : public RowSource
{
public:
    ValueRows(std::shared_ptr<const CheckpointComparison> shown, const PairNotes *notes)
        : comparison(std::move(shown)),
          m_pinned(notes ? notes->pinned() : PairNotes::Names()),
          m_expected(notes ? notes->expected() : PairNotes::Names())
    {
    }

    std::size_t size() const override { return comparison->values.size(); }
    std::string_view name(std::size_t row) const override { return comparison->values[row].name; }
    bool finished() const override { return comparison->finished; }

    void prepare() override
    {
        m_marks.clear();
        for (const ValueRow &row : comparison->values)
            m_marks.push_back(markOf(row.status, row.stateClass, m_pinned.contains(row.name),
                                     m_expected.contains(row.name)));
    }

    std::vector<std::uint64_t> keys(int column) const override
    {
        using Column = ValueTableModel::Column;
        const std::vector<ValueRow> &values = comparison->values;
        std::vector<std::uint64_t> keys;
        switch (Column(column)) {
        case Column::A: return ranksOf(values, &ValueRow::valueA);
        case Column::B: return ranksOf(values, &ValueRow::valueB);
        case Column::Sign:
            for (const ValueRow &row : values)
                keys.push_back(std::uint64_t(row.status));
            break;
        case Column::Class:
            for (const ValueRow &row : values)
                keys.push_back(std::uint64_t(row.stateClass));
            break;
        default: break;
        }
        return keys;
    }

    std::shared_ptr<const CheckpointComparison> comparison;

private:
    PairNotes::Names m_pinned, m_expected; ///< of the time when it was made
};

ValueTableModel::ValueTableModel(QObject *parent, const PairNotes *notes)
    : RowTableModel(int(Column::Count), int(Column::Name), parent),
      m_notes(notes)
{
}

void ValueTableModel::setComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    setRows(comparison ? std::make_shared<ValueRows>(std::move(comparison), m_notes) : nullptr);
}

void ValueTableModel::show(std::shared_ptr<const RowSource> rows)
{
    m_rows = std::static_pointer_cast<const ValueRows>(std::move(rows));
}

std::shared_ptr<const CheckpointComparison> ValueTableModel::comparison() const
{
    return m_rows ? m_rows->comparison : nullptr;
}

QVariant ValueTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const std::size_t position = resultRow(index.row());
    if (role == RowRole)
        return qulonglong(position);
    const ValueRow &row = m_rows->comparison->values[position];
    const auto column = Column(index.column());
    const QVariant cell = valueCell(row, column, role);
    if (column == Column::Name)
        return notedName(m_notes, row.name, role, cell);
    return column == Column::Sign ? notedSign(m_notes, row.name, role, cell) : cell;
}

QVariant ValueTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    return orientation == Qt::Horizontal ? valueHeader(Column(section), role) : QVariant();
}

QVariant valueCell(const ValueRow &row, ValueTableModel::Column column, int role)
{
    using Column = ValueTableModel::Column;
    switch (role) {
    case Qt::DisplayRole: return cellText(row, column);
    case Qt::AccessibleTextRole:
        return column == Column::Sign ? describe(row.status) : cellText(row, column);
    case Qt::ToolTipRole: return toolTip(row);
    case Qt::TextAlignmentRole:
        return int(column == Column::Sign ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case SortRole:
        return column == Column::Sign ? QVariant(int(row.status)) : cellText(row, column);
    case ColorRole: return int(cellColor(row, column));
    case NameRole: return displayText(row.name);
    default: return {};
    }
}

QVariant valueHeader(ValueTableModel::Column column, int role)
{
    using Column = ValueTableModel::Column;
    if (role != Qt::DisplayRole)
        return {};
    switch (column) {
    case Column::Name: return ValueTableModel::tr("value");
    case Column::A: return ValueTableModel::tr("A");
    case Column::B: return ValueTableModel::tr("B");
    case Column::Class: return ValueTableModel::tr("class");
    default: return {};
    }
}

} // namespace forkpoint
