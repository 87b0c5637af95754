// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/finding_list_model.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/theme.h"

#include <QStringList>

#include <algorithm>

namespace forkpoint {

namespace {

ThemeColor colorOf(Severity severity)
{
    switch (severity) {
    case Severity::Error: return ThemeColor::Difference;
    case Severity::Warning: return ThemeColor::Unknown;
    case Severity::Note: break;
    }
    return ThemeColor::Muted;
}

QString whereText(const Finding &row)
{
    QStringList names;
    for (const std::string &where : row.where)
        names += displayText(where);
    return names.join(QStringLiteral(", "));
}

QString cellText(const Finding &row, FindingListModel::Column column)
{
    using Column = FindingListModel::Column;
    switch (column) {
    case Column::Sign: return sign(row.severity);
    case Column::Certainty:
        return row.certainty == Certainty::Is ? FindingListModel::tr("is")
                                              : FindingListModel::tr("consistent with");
    case Column::Text: return displayText(row.text);
    case Column::Where: return elidedMiddle(whereText(row), 200);
    case Column::Count: break;
    }
    return {};
}

QString toolTip(const Finding &row)
{
    return displayText(row.text) + u'\n' + whereText(row);
}

bool same(const Finding &a, const Finding &b)
{
    return a.id == b.id && a.text == b.text && a.where == b.where;
}

} // namespace

void FindingListModel::setRows(std::vector<Finding> rows)
{
    // The gravest first, otherwise in the order of the comparison, so that a rerun lists them alike.
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Finding &a, const Finding &b) { return a.severity > b.severity; });
    if (std::equal(rows.begin(), rows.end(), m_rows.begin(), m_rows.end(), same))
        return;
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int FindingListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int FindingListModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(Column::Count);
}

QVariant FindingListModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Finding &row = at(index.row());
    const Column column = Column(index.column());
    switch (role) {
    case Qt::DisplayRole: return cellText(row, column);
    case Qt::AccessibleTextRole:
        return column == Column::Sign ? qs(toString(row.severity)) : cellText(row, column);
    case Qt::ToolTipRole: return plainToolTip(toolTip(row));
    case Qt::TextAlignmentRole:
        return int(column == Column::Sign ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case ColorRole: return int(column == Column::Sign ? colorOf(row.severity) : ThemeColor::Text);
    case NameRole: return toolTip(row);
    default: return {};
    }
}

QVariant FindingListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (Column(section)) {
    case Column::Certainty: return tr("certainty");
    case Column::Text: return tr("finding");
    case Column::Where: return tr("where");
    default: return {};
    }
}

} // namespace forkpoint
