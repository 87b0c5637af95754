// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/remark_list_model.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/status_look.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr int MaximumCell = 400; ///< characters; the tooltip has the rest

} // namespace

RemarkListModel::RemarkListModel(QStringList titles, QObject *parent)
    : QAbstractTableModel(parent),
      m_titles(std::move(titles))
{
}

void RemarkListModel::setRows(std::vector<Remark> rows)
{
    // The gravest first, otherwise in the order of the comparison, so that a rerun lists them alike.
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Remark &a, const Remark &b) { return a.severity > b.severity; });
    if (rows == m_rows)
        return;
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int RemarkListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int RemarkListModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_titles.size()) + 1;
}

QVariant RemarkListModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Remark &row = at(index.row());
    const Look shown = look(row.severity);
    const bool isSign = index.column() == 0;
    const auto cell = [&] { return elidedMiddle(row.cells[index.column() - 1], MaximumCell); };
    switch (role) {
    case Qt::DisplayRole: return isSign ? shown.sign : cell();
    case Qt::AccessibleTextRole: return isSign ? shown.words : cell();
    case Qt::ToolTipRole: return plainToolTip(row.whole);
    case Qt::TextAlignmentRole:
        return int(isSign ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case ColorRole: return int(isSign ? shown.color : ThemeColor::Text);
    case NameRole: return row.whole;
    default: return {};
    }
}

QVariant RemarkListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section == 0)
        return {};
    return m_titles.value(section - 1);
}

} // namespace forkpoint
