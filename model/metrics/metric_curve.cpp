// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_curve.h"

#include "model/metrics/metric_kind.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace forkpoint {

namespace {

constexpr std::size_t StepsAround = 50; ///< on each side of the first difference
constexpr std::size_t Stretches = 128;  ///< each keeps at most three points of a side
static_assert(2 * (3 * Stretches + 1) + 2 * StepsAround + 1 < MetricCurves::MostSteps);

std::vector<std::int64_t> stepsOf(const MetricSeries &a, const MetricSeries &b)
{
    std::vector<std::int64_t> steps;
    steps.reserve(a.points.size() + b.points.size());
    std::size_t i = 0, j = 0;
    while (i < a.points.size() || j < b.points.size()) {
        const bool hasA = i < a.points.size(), hasB = j < b.points.size();
        const bool isA = hasA && (!hasB || a.points[i].step <= b.points[j].step);
        const std::int64_t step = isA ? a.points[i++].step : b.points[j++].step;
        if (steps.empty() || steps.back() != step)
            steps.push_back(step);
    }
    return steps;
}

/// The steps of the lowest, the highest and the first that is no number, of points [from, to).
void addExtremes(const std::vector<MetricPoint> &points, std::size_t from, std::size_t to,
                 std::set<std::int64_t> &steps)
{
    const MetricPoint *least = nullptr, *most = nullptr, *unlike = nullptr;
    for (std::size_t i = from; i < to; ++i) {
        const MetricPoint &point = points[i];
        if (!std::isfinite(point.value)) {
            unlike = unlike ? unlike : &point;
            continue;
        }
        least = !least || point.value < least->value ? &point : least;
        most = !most || point.value > most->value ? &point : most;
    }
    for (const MetricPoint *point : {least, most, unlike})
        if (point)
            steps.insert(point->step);
}

/// Of more steps than are kept, those that tell most.
std::set<std::int64_t> keptSteps(const MetricSeries &a, const MetricSeries &b)
{
    std::set<std::int64_t> kept;
    for (const MetricSeries *series : {&a, &b}) {
        const std::size_t count = series->points.size();
        const std::size_t stretch = std::max<std::size_t>(1, (count + Stretches - 1) / Stretches);
        for (std::size_t from = 0; from < count; from += stretch)
            addExtremes(series->points, from, std::min(count, from + stretch), kept);
        if (count > 0)
            kept.insert(series->points.back().step);
    }
    return kept;
}

void addAround(const std::vector<std::int64_t> &all, std::int64_t step,
               std::set<std::int64_t> &kept)
{
    const auto at = std::size_t(std::lower_bound(all.begin(), all.end(), step) - all.begin());
    const std::size_t end = std::min(all.size(), at + StepsAround + 1);
    for (std::size_t i = at - std::min(at, StepsAround); i < end; ++i)
        kept.insert(all[i]);
}

/// Appends that point of `from` to the curve.
void keep(MetricCurve &curve, const MetricSeries &from, std::size_t point, bool afterGap)
{
    curve.series.points.push_back(from.points[point]);
    if (!from.printed.empty())
        curve.series.printed.push_back(from.printed[point]);
    curve.afterGap.push_back(afterGap);
}

/// `kept` null: every point.
MetricCurve curveOf(const MetricSeries &series, const MetricSeries &other,
                    const std::set<std::int64_t> *kept)
{
    MetricCurve curve;
    curve.series = {series.name,      series.file,     series.bitsKnown,     {},
                    series.float32,   series.integers, series.beyondFloat64, {},
                    series.passedOver};
    curve.logged = series.points.size();
    bool gap = false;
    std::size_t next = 0; // of the other side, behind the point before
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        const std::int64_t step = series.points[i].step;
        curve.notFinite += std::isfinite(series.points[i].value) ? 0u : 1u;
        gap |= i > 0 && next < other.points.size() && other.points[next].step < step;
        while (next < other.points.size() && other.points[next].step <= step)
            ++next;
        if (kept && !kept->contains(step))
            continue;
        keep(curve, series, i, gap);
        gap = false;
    }
    return curve;
}

MetricCurves curvesOfOne(const std::string &name, const MetricSeries &a, const MetricSeries &b,
                         const MetricComparison *compared)
{
    MetricCurves curves;
    curves.name = name;
    const std::vector<std::int64_t> all = stepsOf(a, b);
    std::set<std::int64_t> kept;
    const bool isThinned = all.size() > MetricCurves::MostSteps;
    if (isThinned)
        kept = keptSteps(a, b);
    if (isThinned && compared && compared->firstProvenDifference)
        addAround(all, *compared->firstProvenDifference, kept);
    curves.a = curveOf(a, b, isThinned ? &kept : nullptr);
    curves.b = curveOf(b, a, isThinned ? &kept : nullptr);
    return curves;
}

} // namespace

std::vector<const MetricComparison *>
mostTellingFirst(const std::vector<MetricComparison> &compared)
{
    const MetricComparison *first = firstToPart(compared);
    const auto key = [first](const MetricComparison *metric) {
        return std::tuple(
            metric != first, metric->context,
            metric->firstProvenDifference.value_or(std::numeric_limits<std::int64_t>::max()),
            metricStage(metric->name) != "loss", stageOfMetric(metric->name).empty(),
            std::string_view(metric->name));
    };
    std::vector<const MetricComparison *> sorted;
    for (const MetricComparison &metric : compared)
        sorted.push_back(&metric);
    std::sort(sorted.begin(), sorted.end(),
              [&](const auto *left, const auto *right) { return key(left) < key(right); });
    return sorted;
}

std::vector<MetricCurves> curvesOf(const std::vector<MetricSeries> &a,
                                   const std::vector<MetricSeries> &b,
                                   const std::vector<MetricComparison> &compared,
                                   std::uint64_t &leftOut)
{
    struct Pair
    {
        const MetricSeries *a = nullptr, *b = nullptr;
    };
    std::map<std::string, Pair> byName;
    for (const MetricSeries &series : a)
        byName[series.name].a = &series;
    for (const MetricSeries &series : b)
        byName[series.name].b = &series;
    static const MetricSeries None;
    std::vector<MetricCurves> result;
    std::size_t points = 0;
    leftOut = 0;
    const auto add = [&](const std::string &name, const MetricComparison *metric) {
        const auto found = byName.find(name);
        if (found == byName.end())
            return;
        const Pair pair = found->second;
        byName.erase(found);
        if (points >= MetricCurves::MostPoints) {
            ++leftOut;
            return;
        }
        MetricCurves curves =
            curvesOfOne(name, pair.a ? *pair.a : None, pair.b ? *pair.b : None, metric);
        points += curves.a.series.points.size() + curves.b.series.points.size();
        result.push_back(std::move(curves));
    };
    for (const MetricComparison *metric : mostTellingFirst(compared))
        add(metric->name, metric);
    while (!byName.empty())
        add(std::string(byName.begin()->first), nullptr);
    return result;
}

} // namespace forkpoint
