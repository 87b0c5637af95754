// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_steps.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// The elements of `all` that belong to the points [begin, end); none where it has none.
template <class Values>
Values part(const Values &all, std::ptrdiff_t begin, std::ptrdiff_t end)
{
    return all.empty() ? Values() : Values(all.begin() + begin, all.begin() + end);
}

} // namespace

std::vector<MetricSeries> withinSteps(const std::vector<MetricSeries> &all, const StepRange &steps)
{
    std::vector<MetricSeries> result;
    for (const MetricSeries &series : all) {
        const auto &points = series.points;
        const auto isBefore = [](const MetricPoint &point, std::int64_t step) {
            return point.step < step;
        };
        const auto isBehind = [](std::int64_t step, const MetricPoint &point) {
            return step < point.step;
        };
        const auto first =
            std::lower_bound(points.begin(), points.end(), steps.first, isBefore) - points.begin();
        const auto last =
            std::upper_bound(points.begin(), points.end(), steps.second, isBehind) - points.begin();
        if (first >= last)
            continue;
        MetricSeries kept = series;
        kept.points = part(points, first, last);
        kept.printed = part(series.printed, first, last);
        kept.windows = part(series.windows, first, last);
        std::erase_if(kept.blanks,
                      [&](std::int64_t step) { return step < steps.first || step > steps.second; });
        result.push_back(std::move(kept));
    }
    return result;
}

std::string toText(const StepRange &steps)
{
    return steps.first == steps.second
        ? "step " + std::to_string(steps.first)
        : "steps " + std::to_string(steps.first) + " to " + std::to_string(steps.second);
}

} // namespace forkpoint
