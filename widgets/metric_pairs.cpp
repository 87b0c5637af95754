// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/metric_pairs.h"

#include "model/metrics/printed_text.h"
#include "widgets/display_text.h"
#include "widgets/models/natural_order.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace forkpoint {

namespace {

constexpr int Float32Digits = 9;

QString tr(const char *text)
{
    return QCoreApplication::translate("forkpoint::MetricPairs", text);
}

QString precisionOf(const MetricSeries &series)
{
    if (!series.bitsKnown)
        return tr("as printed");
    if (series.integers)
        return tr("whole numbers");
    return series.float32 ? tr("every bit known (float32)") : tr("every bit known");
}

} // namespace

QString metricValueText(const MetricSeries &series, std::size_t point)
{
    const double value = series.points[point].value;
    if (point < series.printed.size() && std::isfinite(value))
        return qs(printedText(series.printed[point]));
    if (series.integers)
        return QString::number(value, 'f', 0);
    if (series.float32)
        return QString::number(value, 'g', Float32Digits);
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

std::optional<std::size_t> pointAt(const MetricSeries *series, std::int64_t step)
{
    if (!series)
        return std::nullopt;
    const auto found = std::lower_bound(
        series->points.begin(), series->points.end(), step,
        [](const MetricPoint &point, std::int64_t wanted) { return point.step < wanted; });
    if (found == series->points.end() || found->step != step)
        return std::nullopt;
    return std::size_t(found - series->points.begin());
}

Look MetricPair::look() const
{
    if (!compared)
        return forkpoint::look(!b && a       ? ItemStatus::OnlyInA
                                   : b && !a ? ItemStatus::OnlyInB
                                             : ItemStatus::NotCompared);
    if (compared->firstProvenDifference)
        return forkpoint::look(ItemStatus::Different);
    const bool areCommonEqual = compared->bitsKnown && compared->commonSteps > 0;
    const std::uint64_t unmet = compared->unmet.count;
    if (areCommonEqual && compared->oneSidedSteps == 0 && unmet == 0)
        return forkpoint::look(ItemStatus::Identical);
    Look result = forkpoint::look(StepStatus::Undecided);
    if (unmet > 0 && (areCommonEqual || compared->commonSteps == 0)) {
        result.words = compared->commonSteps == 0
            ? tr("not compared: the two logs say other things at their common steps")
            : tr("equal where the two logs say the same thing; at other steps they do not");
        return result;
    }
    if (areCommonEqual) {
        result.words =
            tr("equal at the common steps; between them others were logged on one side only");
        return result;
    }
    result.words = compared->commonSteps == 0
        ? tr("no step in common")
        : tr("not seen to differ: numbers that were printed rounded may differ unseen");
    return result;
}

QString MetricPair::precision() const
{
    if (a && b && precisionOf(*a) != precisionOf(*b))
        return tr("A %1, B %2").arg(precisionOf(*a), precisionOf(*b));
    if (a || b)
        return precisionOf(a ? *a : *b);
    return compared && compared->bitsKnown ? tr("every bit known") : tr("as printed");
}

QString MetricPair::precisionCell() const
{
    const auto isWhole = [](const MetricSeries *series) { return series && series->integers; };
    if (isWhole(a) && isWhole(b))
        return tr("integers");
    const bool known =
        compared ? compared->bitsKnown : (!a || a->bitsKnown) && (!b || b->bitsKnown);
    return known ? tr("every bit") : tr("as printed");
}

MetricPairs::MetricPairs(const ViewContext &context)
    : m_a(context.side(Side::A).metrics),
      m_b(context.side(Side::B).metrics),
      m_comparison(context.comparison())
{
    std::map<std::string, MetricPair> byName;
    for (const MetricSeries &series : m_a)
        byName[series.name].a = &series;
    for (const MetricSeries &series : m_b)
        byName[series.name].b = &series;
    if (m_comparison)
        for (const MetricComparison &metric : m_comparison->metrics)
            byName[metric.name].compared = &metric;
    for (auto &[name, pair] : byName) {
        pair.name = name;
        m_pairs.push_back(pair);
    }
    sort();
}

void MetricPairs::sort()
{
    const MetricComparison *first = m_comparison ? firstToPart(m_comparison->metrics) : nullptr;
    const auto isContext = [](const MetricPair &pair) {
        return pair.compared && pair.compared->context;
    };
    const auto part = [](const MetricPair &pair) {
        return pair.compared && pair.compared->firstProvenDifference
            ? *pair.compared->firstProvenDifference
            : std::numeric_limits<std::int64_t>::max();
    };
    std::sort(m_pairs.begin(), m_pairs.end(), [&](const MetricPair &x, const MetricPair &y) {
        if (first && (x.compared == first) != (y.compared == first))
            return x.compared == first;
        if (isContext(x) != isContext(y))
            return isContext(y);
        if (part(x) != part(y))
            return part(x) < part(y);
        return naturalCompare(x.name, y.name) < 0;
    });
}

} // namespace forkpoint
