// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/metric_step_model.h"

#include "model/metrics/metric_relation.h"
#include "model/metrics/whole_digits.h"
#include "widgets/display_text.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace forkpoint {

namespace {

constexpr std::size_t RowsBefore = 1000; ///< of the first difference, where not all are shown

std::vector<std::int64_t> stepsOf(const MetricPair &pair)
{
    std::vector<std::int64_t> a, b, all;
    for (const auto &[series, steps] : {std::pair{pair.a, &a}, std::pair{pair.b, &b}})
        if (series)
            for (const MetricPoint &point : series->points)
                steps->push_back(point.step);
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}

Look lookOf(MetricRelation relation)
{
    if (relation == MetricRelation::Different)
        return look(ItemStatus::Different);
    if (relation == MetricRelation::Equal)
        return look(ItemStatus::Identical);
    Look result = look(StepStatus::Undecided);
    result.words = MetricStepModel::tr("not seen to differ: at least one was printed rounded");
    return result;
}

/// Of integers exact, else with the digits that read back.
QString differenceOf(const MetricSample &a, const MetricSample &b, MetricRelation relation)
{
    if (relation == MetricRelation::Alike)
        return QStringLiteral("–");
    if (relation == MetricRelation::Equal)
        return QStringLiteral("0");
    if (a.isInteger && b.isInteger)
        return qs(wholeDigits(b.integer() - a.integer()));
    const double difference = b.value - a.value;
    return std::isfinite(difference) ? QString::number(difference, 'g', 6) : QStringLiteral("–");
}

} // namespace

MetricStepModel::Row MetricStepModel::rowOf(const MetricPair &pair, std::int64_t step)
{
    const QString none = QStringLiteral("–");
    const auto a = pointAt(pair.a, step);
    const auto b = pointAt(pair.b, step);
    Row row{step, a ? metricValueText(*pair.a, *a) : none, b ? metricValueText(*pair.b, *b) : none,
            none,
            look(a && b  ? ItemStatus::NotCompared
                     : a ? ItemStatus::OnlyInA
                         : ItemStatus::OnlyInB)};
    if (!a || !b || !pair.compared)
        return row;
    const MetricSample one = sampleAt(*pair.a, *a), other = sampleAt(*pair.b, *b);
    const MetricRelation relation = relationOf(one, other, pair.compared->bitsKnown);
    row.look = lookOf(relation);
    row.difference = differenceOf(one, other, relation);
    return row;
}

void MetricStepModel::setPair(const MetricPair *pair)
{
    beginResetModel();
    m_rows.clear();
    m_steps = 0;
    if (pair) {
        const std::vector<std::int64_t> steps = stepsOf(*pair);
        m_steps = steps.size();
        std::size_t from = 0;
        if (m_steps > MostRows && pair->compared && pair->compared->firstProvenDifference) {
            const auto first = std::lower_bound(steps.begin(), steps.end(),
                                                *pair->compared->firstProvenDifference);
            const auto at = std::size_t(first - steps.begin());
            from = std::min(at - std::min(at, RowsBefore), m_steps - MostRows);
        }
        const std::size_t end = std::min(m_steps, from + MostRows);
        for (std::size_t i = from; i < end; ++i)
            m_rows.push_back(rowOf(*pair, steps[i]));
    }
    endResetModel();
}

std::optional<int> MetricStepModel::rowOf(std::int64_t step) const
{
    const auto found =
        std::lower_bound(m_rows.begin(), m_rows.end(), step,
                         [](const Row &row, std::int64_t wanted) { return row.step < wanted; });
    if (found == m_rows.end() || found->step != step)
        return std::nullopt;
    return int(found - m_rows.begin());
}

int MetricStepModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int MetricStepModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(Column::Count);
}

QString MetricStepModel::text(const Row &row, Column column) const
{
    switch (column) {
    case Column::Sign: return row.look.sign;
    case Column::AtStep: return QString::number(row.step);
    case Column::A: return row.a;
    case Column::B: return row.b;
    case Column::Difference: return row.difference;
    case Column::Count: break;
    }
    return {};
}

QVariant MetricStepModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Row &row = m_rows[std::size_t(index.row())];
    const auto column = Column(index.column());
    switch (role) {
    case Qt::DisplayRole: return text(row, column);
    case Qt::AccessibleTextRole: return column == Column::Sign ? row.look.words : text(row, column);
    case Qt::ToolTipRole: return plainToolTip(tr("step %1: %2").arg(row.step).arg(row.look.words));
    case Qt::TextAlignmentRole:
        return int(column == Column::Sign ? Qt::AlignCenter : Qt::AlignRight | Qt::AlignVCenter);
    case ColorRole:
        return int(column == Column::Sign    ? row.look.color
                       : column == Column::A ? ThemeColor::A
                       : column == Column::B ? ThemeColor::B
                                             : ThemeColor::Text);
    case NameRole: return QString::number(row.step);
    default: return {};
    }
}

QVariant MetricStepModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (Column(section)) {
    case Column::AtStep: return tr("step");
    case Column::A: return tr("A");
    case Column::B: return tr("B");
    case Column::Difference: return tr("B−A");
    default: return {};
    }
}

} // namespace forkpoint
