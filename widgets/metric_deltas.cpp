// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/metric_deltas.h"

#include "widgets/display_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace forkpoint {

namespace {

MetricDeltas::Extremes extremesOf(const MetricDelta &point)
{
    const bool finite = std::isfinite(point.delta);
    const double value = finite ? point.delta : 0.0;
    return {value, value, finite, point.bitsDiffer, !finite};
}

QString tr(const char *text)
{
    return QCoreApplication::translate("StepStrip", text);
}

} // namespace

void MetricDeltas::Extremes::add(const Extremes &other)
{
    if (other.anyFinite) {
        least = anyFinite ? std::min(least, other.least) : other.least;
        most = anyFinite ? std::max(most, other.most) : other.most;
    }
    anyFinite = anyFinite || other.anyFinite;
    bitsDiffer = bitsDiffer || other.bitsDiffer;
    notFinite = notFinite || other.notFinite;
}

MetricDeltas::MetricDeltas(const MetricSeries &a, const MetricSeries &b)
{
    auto other = b.points.begin();
    for (const MetricPoint &point : a.points) {
        while (other != b.points.end() && other->step < point.step)
            ++other;
        if (other == b.points.end())
            break;
        if (other->step != point.step)
            continue;
        const bool differ =
            std::bit_cast<std::uint64_t>(point.value) != std::bit_cast<std::uint64_t>(other->value);
        const double delta = differ ? other->value - point.value : 0.0;
        m_points.push_back({point.step, delta, differ});
        if (differ && !m_firstDifference)
            m_firstDifference = point.step;
    }
    sumUp();
}

MetricDeltas::MetricDeltas(const MetricComparison &metric)
    : m_firstDifference(metric.firstBitDifference)
{
    constexpr double Unknown = std::numeric_limits<double>::quiet_NaN();
    for (const MetricDifference &entry : metric.differences) {
        const bool differ = entry.different > 0;
        m_points.push_back({entry.first, entry.least.value_or(Unknown), differ});
        if (entry.last != entry.first)
            m_points.push_back({entry.last, entry.largest.value_or(Unknown), differ});
    }
    sumUp();
}

void MetricDeltas::sumUp()
{
    for (const MetricDelta &point : m_points)
        if (std::isfinite(point.delta))
            m_largest = std::max(m_largest, std::abs(point.delta));
    std::vector<Extremes> level;
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        if (i % Factor == 0)
            level.emplace_back();
        level.back().add(extremesOf(m_points[i]));
    }
    while (level.size() > 1) {
        m_levels.push_back(std::move(level));
        level.clear();
        const std::vector<Extremes> &below = m_levels.back();
        for (std::size_t i = 0; i < below.size(); ++i) {
            if (i % Factor == 0)
                level.emplace_back();
            level.back().add(below[i]);
        }
    }
}

MetricDeltas::Extremes MetricDeltas::over(std::size_t first, std::size_t end) const
{
    Extremes result;
    for (std::size_t level = 0;; ++level) {
        const bool top = level == m_levels.size();
        const auto node = [&](std::size_t i) {
            return level == 0 ? extremesOf(m_points[i]) : m_levels[level - 1][i];
        };
        while (first < end && (top || first % Factor != 0 || end - first < Factor))
            result.add(node(first++));
        while (end > first && end % Factor != 0)
            result.add(node(--end));
        if (first == end)
            return result;
        first /= Factor;
        end /= Factor;
    }
}

std::size_t MetricDeltas::positionOf(double step) const
{
    const auto found = std::lower_bound(
        m_points.begin(), m_points.end(), step,
        [](const MetricDelta &point, double wanted) { return double(point.step) < wanted; });
    return std::size_t(found - m_points.begin());
}

const MetricDelta &MetricDeltas::nearest(double step) const
{
    const std::size_t after = std::min(positionOf(step), m_points.size() - 1);
    const std::size_t before = after > 0 ? after - 1 : 0;
    const auto away = [&](std::size_t at) { return std::abs(double(m_points[at].step) - step); };
    return m_points[away(before) <= away(after) ? before : after];
}

QString MetricDeltas::summary(bool bitsKnown) const
{
    if (isEmpty())
        return {};
    const QString precision = bitsKnown ? tr("every bit known") : tr("as printed, rounded");
    if (!m_firstDifference)
        return tr("0 at all %1 common steps (%2)").arg(m_points.size()).arg(precision);
    return tr("first differs at step %1, largest |B−A| %2 (%3)")
        .arg(*m_firstDifference)
        .arg(magnitudeText(m_largest), precision);
}

} // namespace forkpoint
