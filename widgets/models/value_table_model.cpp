// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/value_table_model.h"

#include "widgets/display_text.h"
#include "widgets/models/tensor_cells.h"
#include "widgets/theme.h"

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
    case Column::Sign: return colorOf(row.status);
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

int compareRows(const ValueRow &a, const ValueRow &b, ValueTableModel::Column column)
{
    using Column = ValueTableModel::Column;
    switch (column) {
    case Column::Sign: return int(a.status) - int(b.status);
    case Column::A: return compareValues(a.valueA, b.valueA);
    case Column::B: return compareValues(a.valueB, b.valueB);
    case Column::Class: return int(a.stateClass) - int(b.stateClass);
    default: return naturalCompare(a.name, b.name);
    }
}

} // namespace

void ValueTableModel::setComparison(std::shared_ptr<const CheckpointComparison> comparison)
{
    if (comparison && m_comparison && sameRows(*comparison)) {
        m_comparison = std::move(comparison);
        if (!refilter() && rowCount() > 0)
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        return;
    }
    beginResetModel();
    m_comparison = std::move(comparison);
    m_rows.reset(m_comparison ? m_comparison->values.size() : 0);
    reorder();
    endResetModel();
    Q_EMIT rowsChanged();
}

bool ValueTableModel::sameRows(const CheckpointComparison &next) const
{
    const auto &a = m_comparison->values, &b = next.values;
    return a.size() == b.size()
        && std::equal(a.begin(), a.end(), b.begin(),
                      [](const ValueRow &x, const ValueRow &y) { return x.name == y.name; });
}

bool ValueTableModel::accepts(const ValueRow &row) const
{
    if (m_filter.onlyRecipe() && row.stateClass != StateClass::Recipe)
        return false;
    return m_filter.acceptsStatus(row.status, m_comparison->finished)
        && m_filter.acceptsName(row.name);
}

void ValueTableModel::setFilter(const RowFilter &filter)
{
    m_filter = filter;
    refilter();
}

bool ValueTableModel::refilter()
{
    if (!m_comparison)
        return false;
    RowIndex rows = m_rows;
    if (!rows.filter([this](RowIndex::Row row) { return accepts(m_comparison->values[row]); }))
        return false;
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
    Q_EMIT rowsChanged();
    return true;
}

void ValueTableModel::reorder()
{
    if (!m_comparison)
        return;
    const auto &values = m_comparison->values;
    const bool descending = m_sortOrder == Qt::DescendingOrder;
    m_rows.sort([&](RowIndex::Row a, RowIndex::Row b) {
        const int order = compareRows(values[a], values[b], m_sortColumn);
        if (order != 0)
            return descending ? order > 0 : order < 0;
        return naturalCompare(values[a].name, values[b].name) < 0;
    });
    m_rows.filter([&](RowIndex::Row row) { return accepts(values[row]); });
}

void ValueTableModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= int(Column::Count))
        return;
    m_sortColumn = Column(column);
    m_sortOrder = order;
    Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<std::size_t> rows;
    for (const QModelIndex &persistent : before)
        rows.push_back(comparisonRow(persistent.row()));
    reorder();
    QModelIndexList after;
    for (qsizetype i = 0; i < before.size(); ++i)
        after += index(rowOf(rows[std::size_t(i)]), before[i].column());
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
    Q_EMIT rowsChanged();
}

int ValueTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.visible().size());
}

int ValueTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(Column::Count);
}

QVariant ValueTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const std::size_t position = comparisonRow(index.row());
    const ValueRow &row = m_comparison->values[position];
    const Column column = Column(index.column());
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
    case RowRole: return qulonglong(position);
    default: return {};
    }
}

QVariant ValueTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (Column(section)) {
    case Column::Name: return tr("value");
    case Column::A: return tr("A");
    case Column::B: return tr("B");
    case Column::Class: return tr("class");
    default: return {};
    }
}

} // namespace forkpoint
