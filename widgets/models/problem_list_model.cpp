// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/problem_list_model.h"

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

QString cellText(const Diagnostic &row, ProblemListModel::Column column)
{
    using Column = ProblemListModel::Column;
    switch (column) {
    case Column::Sign: return sign(row.severity);
    case Column::File: return displayText(row.file);
    case Column::Place: return displayText(row.place);
    case Column::Text: return displayText(row.text);
    case Column::Count: break;
    }
    return {};
}

QString toolTip(const Diagnostic &row)
{
    QStringList parts{qs(toString(row.severity))};
    for (const std::string &part : {row.file, row.place, row.text}) {
        if (!part.empty())
            parts += displayText(part);
    }
    return parts.join(QStringLiteral(": "));
}

} // namespace

void ProblemListModel::setRows(std::vector<Diagnostic> rows)
{
    // The gravest first, otherwise in the order of the comparison, so that a rerun lists them alike.
    std::stable_sort(rows.begin(), rows.end(), [](const Diagnostic &a, const Diagnostic &b) {
        return a.severity > b.severity;
    });
    if (rows == m_rows)
        return;
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int ProblemListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int ProblemListModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(Column::Count);
}

QVariant ProblemListModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Diagnostic &row = at(index.row());
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

QVariant ProblemListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (Column(section)) {
    case Column::File: return tr("file");
    case Column::Place: return tr("place");
    case Column::Text: return tr("problem");
    default: return {};
    }
}

} // namespace forkpoint
