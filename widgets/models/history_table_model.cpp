// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/history_table_model.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/status_look.h"

namespace forkpoint {

namespace {

Look lookOf(const HistoryPoint &point)
{
    if (!point.difference)
        return look(ItemStatus::NotCompared);
    return look(point.difference->differentElements > 0 ? ItemStatus::Different
                                                        : ItemStatus::Identical);
}

QString trendText(std::optional<DifferenceTrend> trend)
{
    if (!trend)
        return QStringLiteral("–");
    switch (*trend) {
    case DifferenceTrend::Damped: return HistoryTableModel::tr("▼ damped");
    case DifferenceTrend::Preserved: return HistoryTableModel::tr("▬ preserved");
    case DifferenceTrend::Amplified: break;
    }
    return HistoryTableModel::tr("▲ amplified");
}

QString rmsText(const std::optional<DiffStats> &stats)
{
    const std::optional<double> rms = stats ? stats->rms() : std::nullopt;
    return rms ? magnitudeText(*rms) : QStringLiteral("–");
}

QString relativeText(const DiffStats &stats)
{
    const std::optional<double> rms = stats.rms(), of = stats.rmsA();
    if (!rms || !of)
        return QStringLiteral("–");
    if (*rms == 0.0)
        return QStringLiteral("0");
    return *of > 0.0 ? magnitudeText(*rms / *of) : QStringLiteral("–");
}

} // namespace

void HistoryTableModel::setHistory(std::shared_ptr<const TensorHistory> history)
{
    // Growing: rows only ever follow those that are there.
    const int before = rowCount();
    const int after = history ? int(history->points.size()) : 0;
    const bool grows = m_history && history && history->nameA == m_history->nameA
        && history->nameB == m_history->nameB && after >= before;
    if (!grows) {
        beginResetModel();
        m_history = std::move(history);
        endResetModel();
        return;
    }
    if (after > before)
        beginInsertRows({}, before, after - 1);
    m_history = std::move(history);
    if (after > before)
        endInsertRows();
}

int HistoryTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() || !m_history ? 0 : int(m_history->points.size());
}

int HistoryTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(Column::Count);
}

QString HistoryTableModel::text(int row, Column column) const
{
    const HistoryPoint &point = m_history->points[std::size_t(row)];
    switch (column) {
    case Column::Sign: return lookOf(point).sign;
    case Column::AtStep: return QString::number(point.step);
    case Column::UpdateA: return rmsText(point.updateA);
    case Column::UpdateB: return rmsText(point.updateB);
    case Column::Trend:
        if (!point.difference)
            return displayText(point.reason);
        return row == 0 ? QStringLiteral("–")
                        : trendText(trendOf(m_history->points[std::size_t(row) - 1], point));
    default: break;
    }
    if (!point.difference)
        return QStringLiteral("–");
    const DiffStats &stats = *point.difference;
    switch (column) {
    case Column::Differs:
        return stats.differentElements == 0 ? QStringLiteral("0")
                                            : percentText(stats.differentElements, stats.elements);
    case Column::MaxAbs:
        return stats.maxAbsInteger > 0 ? groupedText(stats.maxAbsInteger)
                                       : magnitudeText(stats.maxAbs);
    case Column::MaxUlp: // integers have none
        return stats.maxAbsInteger > 0 ? QStringLiteral("–") : groupedText(stats.maxUlp);
    case Column::Relative: return relativeText(stats);
    default: return {};
    }
}

QString HistoryTableModel::toolTip(int row) const
{
    const HistoryPoint &point = m_history->points[std::size_t(row)];
    QString tip = tr("step %1: %2").arg(point.step).arg(lookOf(point).words);
    if (!point.reason.empty())
        tip += u'\n' + displayText(point.reason);
    if (point.difference) {
        tip += tr("\n%1 of %2 elements differ")
                   .arg(groupedText(point.difference->differentElements),
                        groupedText(point.difference->elements));
        if (const auto rms = point.difference->rms())
            tip += tr("\nrms of B−A %1").arg(QString::number(*rms, 'g', 9));
    }
    return plainToolTip(tip);
}

QVariant HistoryTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const auto column = Column(index.column());
    const HistoryPoint &point = m_history->points[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole: return text(index.row(), column);
    case Qt::AccessibleTextRole:
        return column == Column::Sign ? lookOf(point).words : text(index.row(), column);
    case Qt::ToolTipRole: return toolTip(index.row());
    case Qt::TextAlignmentRole:
        if (column == Column::Sign)
            return int(Qt::AlignCenter);
        return int((column == Column::Trend ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case ColorRole: {
        if (column == Column::Sign)
            return int(lookOf(point).color);
        const bool zero = !point.difference || point.difference->differentElements == 0;
        const bool ofDifference = column == Column::Differs || column == Column::MaxAbs
            || column == Column::MaxUlp || column == Column::Relative;
        return int(column == Column::UpdateA       ? ThemeColor::A
                       : column == Column::UpdateB ? ThemeColor::B
                       : ofDifference && zero      ? ThemeColor::Muted
                                                   : ThemeColor::Text);
    }
    case NameRole: return QString::number(point.step);
    default: return {};
    }
}

QVariant HistoryTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    const auto column = Column(section);
    if (role == Qt::TextAlignmentRole)
        return int((column == Column::Trend ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole) {
        switch (column) {
        case Column::Relative: return tr("rms of B−A divided by rms of A");
        case Column::Trend:
            return tr("rms of B−A against the step before: less than half is damped, more than "
                      "twice amplified");
        case Column::UpdateA: return tr("rms of what A itself changed since its step before");
        case Column::UpdateB: return tr("rms of what B itself changed since its step before");
        default: return {};
        }
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (column) {
    case Column::AtStep: return tr("step");
    case Column::Differs: return tr("differs");
    case Column::MaxAbs: return tr("max |B−A|");
    case Column::MaxUlp: return tr("max ULP");
    case Column::Relative: return tr("relative");
    case Column::Trend: return tr("difference");
    case Column::UpdateA: return tr("update A");
    case Column::UpdateB: return tr("update B");
    default: return {};
    }
}

} // namespace forkpoint
