// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tensor_cells.h"

#include "model/compare/one_sided.h"
#include "model/compare/row_stats.h"
#include "widgets/display_text.h"
#include "widgets/models/row_source.h"
#include "widgets/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("TensorTable", text);
}

double shareOf(const TensorRow &row)
{
    if (row.stats && row.stats->elements > 0)
        return double(row.stats->differentElements) / double(row.stats->elements);
    return row.status == ItemStatus::Identical ? 0.0 : -1.0;
}

/// Of the side that is there, of both where they are alike, else "A → B"; "?" where it is not known.
QString ofSides(const TensorRow &row, const QString &textA, const QString &textB)
{
    const QString unknown = QStringLiteral("?");
    const QString a = row.layoutKnownA ? textA : unknown, b = row.layoutKnownB ? textB : unknown;
    if (!row.a)
        return b;
    return !row.b || a == b ? a : QString(a + QStringLiteral(" → ") + b);
}

QString shapesText(const TensorRow &row)
{
    return ofSides(row, shapeText(row.shapeA), shapeText(row.shapeB));
}

QString dtypesText(const TensorRow &row)
{
    return ofSides(row, displayText(row.dtypeA.name), displayText(row.dtypeB.name));
}

/// What stands in a number's cell where there is no number.
QString noNumber(const TensorRow &row)
{
    if (row.status == ItemStatus::Identical)
        return QStringLiteral("0");
    return QStringLiteral("–");
}

/// "NaN in B": what one side has more of than the other, and no distance measures. Where it is as
/// many on both and nothing else differs, they lie elsewhere or are of another sign. Else empty.
QString notFiniteText(const TensorRow &row)
{
    if (!row.stats || !measuredType(row).isFloating())
        return {};
    const auto told = [](const QString &what, Index inA, Index inB) {
        const QString side = inB > inA ? QStringLiteral("B") : QStringLiteral("A");
        return (std::min(inA, inB) == 0 ? tr("%1 in %2") : tr("more %1 in %2")).arg(what, side);
    };
    const DiffStats &stats = *row.stats;
    if (stats.nanA != stats.nanB)
        return told(QStringLiteral("NaN"), stats.nanA, stats.nanB);
    if (stats.infA != stats.infB)
        return told(QStringLiteral("Inf"), stats.infA, stats.infB);
    const bool isOfNumbers =
        stats.maxAbs > 0 || stats.differentElements <= stats.nanPayloadOnly + stats.signedZeroOnly;
    if (stats.nanA + stats.infA > 0 && !isOfNumbers)
        return tr("other NaN or Inf");
    return {};
}

/// To sort by: a number against none is further apart than any two numbers. -1 without one.
double distanceOf(const TensorRow &row)
{
    return notFiniteText(row).isEmpty() ? maxAbsOf(row).value_or(-1.0)
                                        : std::numeric_limits<double>::infinity();
}

/// Of a number against none there is no distance in ULP, and none is longer: 0 would be of other elements.
bool hasNoUlp(const TensorRow &row)
{
    return row.stats && row.stats->maxUlp == 0 && !notFiniteText(row).isEmpty();
}

double ulpOf(const TensorRow &row)
{
    if (hasNoUlp(row))
        return std::numeric_limits<double>::infinity();
    if (row.stats && measuredType(row).isFloating())
        return double(row.stats->maxUlp);
    return row.status == ItemStatus::Identical ? 0.0 : -1.0;
}

/// Of what is not compared also which side it is of, where it is of one alone.
QString signText(const TensorRow &row)
{
    const QString text = sign(row.status);
    if (row.status != ItemStatus::NotCompared || !isOneSided(row))
        return text;
    return text + (row.a ? QStringLiteral(" A") : QStringLiteral(" B"));
}

QString cellText(const TensorRow &row, TensorColumn column)
{
    switch (column) {
    case TensorColumn::Sign: return signText(row);
    case TensorColumn::Name: return displayText(row.name);
    case TensorColumn::Shape: return shapesText(row);
    case TensorColumn::Differs:
        if (!row.stats)
            return row.stoppedEarly ? tr("≥ 1 element") : noNumber(row);
        return row.stats->differentElements == 0
            ? QStringLiteral("0")
            : percentText(row.stats->differentElements, row.stats->elements);
    case TensorColumn::MaxUlp:
        if (!row.stats || !measuredType(row).isFloating() || hasNoUlp(row))
            return noNumber(row);
        return groupedText(row.stats->maxUlp);
    case TensorColumn::MaxAbs: {
        if (row.stats && measuredType(row).isInteger())
            return groupedText(row.stats->maxAbsInteger);
        if (const QString told = notFiniteText(row); !told.isEmpty())
            return told;
        const std::optional<double> magnitude = maxAbsOf(row);
        return magnitude ? magnitudeText(*magnitude) : noNumber(row);
    }
    case TensorColumn::DType: return dtypesText(row);
    case TensorColumn::Class: return qs(toString(row.stateClass));
    case TensorColumn::Count: break;
    }
    return {};
}

QString toolTip(const TensorRow &row, TensorColumn column)
{
    QString text = displayText(row.name) + u'\n' + describe(row.status);
    if (!row.reason.empty())
        text += QStringLiteral(": ") + displayText(row.reason);
    if (row.withinTolerance)
        text += tr(" (within the tolerance asked for)");
    if (!row.nameA.empty() && row.nameA != row.name)
        text += tr("\nin A: ") + displayText(row.nameA);
    if (!row.nameB.empty() && row.nameB != row.name)
        text += tr("\nin B: ") + displayText(row.nameB);
    text += u'\n' + dtypesText(row) + u' ' + shapesText(row) + QStringLiteral(", ")
        + qs(toString(row.stateClass));
    if (!row.pairedReason.empty())
        text += tr("\npaired: ") + displayText(row.pairedReason);
    if (row.stats && column == TensorColumn::Differs) {
        text += u'\n' + groupedText(row.stats->differentElements) + tr(" of ")
            + groupedText(row.stats->elements) + tr(" elements");
    }
    if (row.stats && measuredType(row).isFloating() && row.stats->maxUlp > 0)
        text += tr("\nmax ULP ") + groupedText(std::uint64_t(row.stats->maxUlp));
    if (row.stats && column == TensorColumn::MaxAbs)
        text += (notFiniteText(row).isEmpty() ? tr("\n") : tr("\nwhere both are finite: "))
            + QString::number(maxAbsOf(row).value_or(0.0), 'g', 17);
    return plainToolTip(text);
}

std::uint64_t keyOf(const TensorRow &row, TensorColumn column)
{
    switch (column) {
    case TensorColumn::Sign: return std::uint64_t(row.status);
    case TensorColumn::Shape: return row.elements;
    case TensorColumn::Differs: return sortKey(shareOf(row));
    case TensorColumn::MaxUlp: return sortKey(ulpOf(row));
    case TensorColumn::MaxAbs: return sortKey(distanceOf(row));
    case TensorColumn::Class: return std::uint64_t(row.stateClass);
    default: return 0;
    }
}

QVariant sortValue(const TensorRow &row, TensorColumn column)
{
    switch (column) {
    case TensorColumn::Sign: return int(row.status);
    case TensorColumn::Differs: return shareOf(row);
    case TensorColumn::MaxUlp: return ulpOf(row);
    case TensorColumn::MaxAbs: return distanceOf(row);
    case TensorColumn::Shape: return qulonglong(row.elements);
    case TensorColumn::Class: return int(row.stateClass);
    default: return cellText(row, column);
    }
}

ThemeColor cellColor(const TensorRow &row, TensorColumn column)
{
    switch (column) {
    case TensorColumn::Sign: return look(row.status).color;
    case TensorColumn::Differs:
    case TensorColumn::MaxUlp:
    case TensorColumn::MaxAbs:
        if (!row.stats || row.stats->differentElements == 0)
            return ThemeColor::Muted;
        return column == TensorColumn::MaxUlp ? ThemeColor::Text : ThemeColor::Difference;
    case TensorColumn::Shape:
    case TensorColumn::DType:
    case TensorColumn::Class: return ThemeColor::Muted;
    default: return ThemeColor::Text;
    }
}

} // namespace

MagnitudeScale MagnitudeScale::of(const CheckpointComparison &comparison)
{
    MagnitudeScale scale;
    bool any = false;
    for (const TensorRow &row : comparison.tensors) {
        const std::optional<double> magnitude = maxAbsOf(row);
        if (!magnitude || !(*magnitude > 0.0) || !std::isfinite(*magnitude))
            continue;
        const double exponent = std::log2(*magnitude);
        scale.lowest = any ? std::min(scale.lowest, exponent) : exponent;
        scale.highest = any ? std::max(scale.highest, exponent) : exponent;
        any = true;
    }
    return scale;
}

double MagnitudeScale::fraction(double magnitude) const
{
    // The smallest difference still has a visible bar.
    constexpr double Shortest = 0.15;
    if (highest <= lowest)
        return 1.0;
    const double position = (std::log2(magnitude) - lowest) / (highest - lowest);
    return Shortest + (1.0 - Shortest) * std::clamp(position, 0.0, 1.0);
}

std::optional<double> maxAbsOf(const TensorRow &row)
{
    if (!row.stats)
        return std::nullopt;
    if (measuredType(row).isFloating())
        return row.stats->maxAbs;
    if (measuredType(row).isInteger())
        return double(row.stats->maxAbsInteger);
    return std::nullopt;
}

QVariant tensorHeader(TensorColumn column, int role)
{
    if (role == Qt::TextAlignmentRole) {
        const bool number = column == TensorColumn::Differs || column == TensorColumn::MaxUlp;
        return int((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role == Qt::InitialSortOrderRole) // a first click asks for what is largest
        return int(column == TensorColumn::Differs || column == TensorColumn::MaxUlp
                           || column == TensorColumn::MaxAbs || column == TensorColumn::Shape
                       ? Qt::DescendingOrder
                       : Qt::AscendingOrder);
    if (role == Qt::ToolTipRole && column == TensorColumn::Sign)
        return tr("= identical, ≠ different, ◐ only in A, ◑ only in B, ? not compared");
    if (role == Qt::ToolTipRole && column == TensorColumn::MaxUlp)
        return tr("largest distance in units in the last place");
    if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)
        return {};
    switch (column) {
    case TensorColumn::Sign: return role == Qt::DisplayRole ? QString() : tr("status");
    case TensorColumn::Name: return tr("tensor");
    case TensorColumn::Shape: return tr("shape");
    case TensorColumn::Differs: return tr("differs");
    case TensorColumn::MaxUlp: return tr("max ULP");
    case TensorColumn::MaxAbs: return tr("max |B−A|");
    case TensorColumn::DType: return tr("dtype");
    case TensorColumn::Class: return tr("class");
    case TensorColumn::Count: break;
    }
    return {};
}

QVariant tensorCell(const TensorRow &row, TensorColumn column, int role,
                    const MagnitudeScale &scale)
{
    switch (role) {
    case Qt::DisplayRole: return cellText(row, column);
    case Qt::ToolTipRole: return toolTip(row, column);
    case Qt::AccessibleTextRole:
        return column == TensorColumn::Sign ? describe(row.status) : cellText(row, column);
    case Qt::TextAlignmentRole:
        if (column == TensorColumn::Sign)
            return int(Qt::AlignCenter);
        return tensorHeader(column, role);
    case SortRole: return sortValue(row, column);
    case ColorRole: return int(cellColor(row, column));
    case NameRole: return displayText(row.name);
    case BarRole: break;
    default: return {};
    }
    if (column == TensorColumn::Differs)
        return std::max(0.0, shareOf(row));
    if (column == TensorColumn::MaxAbs) {
        if (std::isinf(distanceOf(row)))
            return 1.0;
        const double magnitude = maxAbsOf(row).value_or(0.0);
        return magnitude > 0.0 && std::isfinite(magnitude) ? scale.fraction(magnitude) : 0.0;
    }
    return {};
}

std::vector<std::uint64_t> tensorKeys(const std::vector<TensorRow> &rows, TensorColumn column)
{
    std::vector<std::uint64_t> keys;
    keys.reserve(rows.size());
    if (column == TensorColumn::DType) {
        std::map<std::string_view, std::uint64_t> ranks; // few, whatever the number of rows
        for (const TensorRow &row : rows)
            ranks.emplace(row.dtypeA.name, 0);
        std::uint64_t rank = 0;
        for (auto &entry : ranks)
            entry.second = rank++;
        for (const TensorRow &row : rows)
            keys.push_back(ranks[row.dtypeA.name]);
        return keys;
    }
    for (const TensorRow &row : rows)
        keys.push_back(keyOf(row, column));
    return keys;
}

} // namespace forkpoint
