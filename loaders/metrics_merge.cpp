// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics_merge.h"

#include "model/metric_comparison.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace forkpoint {

namespace {

auto exactness(const MetricSeries &series)
{
    return std::tuple(series.bitsKnown, !series.float32, series.points.size());
}

bool goesOn(const MetricSeries &first, const MetricSeries &then)
{
    return first.bitsKnown == then.bitsKnown && first.float32 == then.float32
        && first.points.back().step < then.points.front().step;
}

void append(MetricSeries &series, const MetricSeries &more)
{
    series.points.insert(series.points.end(), more.points.begin(), more.points.end());
    series.printed.insert(series.printed.end(), more.printed.begin(), more.printed.end());
}

/// The step at which two files surely log different numbers.
std::optional<std::int64_t> disagreement(const MetricSeries &one, const MetricSeries &other)
{
    const auto compared = compareMetrics({one}, {other});
    const bool decides = !compared.empty() && !compared.front().context;
    return decides ? compared.front().firstProvenDifference : std::nullopt;
}

} // namespace

void mergeMetrics(const std::string &format, MetricsTable &table, FoundMetrics &into)
{
    const bool sameFormat = into.format.empty() || into.format == format;
    std::set<std::string> alsoIn;
    for (MetricSeries &series : table.takeSeries()) {
        const auto found =
            std::find_if(into.series.begin(), into.series.end(),
                         [&](const MetricSeries &other) { return other.name == series.name; });
        if (found == into.series.end()) {
            into.series.push_back(std::move(series));
            continue;
        }
        if (const auto step = disagreement(*found, series)) {
            const std::string text = found->file + " and " + series.file + " both log "
                + series.name + " and differ at step " + std::to_string(*step);
            if (sameFormat && into.conflict.empty())
                into.conflict = text;
            into.diagnostics.push_back(
                {Severity::Warning, "metrics-disagree", series.file, {}, text});
            into.complete = false;
        }
        if (goesOn(*found, series)) {
            append(*found, series);
        } else if (goesOn(series, *found)) {
            append(series, *found);
            *found = std::move(series);
        } else {
            if (exactness(*found) < exactness(series))
                std::swap(*found, series);
            alsoIn.insert(series.file + " holds metrics that " + found->file
                          + " has more exactly or wholly; those count");
        }
    }
    for (const std::string &text : alsoIn)
        into.diagnostics.push_back({Severity::Note, "metrics-twice", table.file(), {}, text});
    into.format = sameFormat ? format : "metrics";
    into.complete = into.complete && table.complete();
    for (Diagnostic &diagnostic : table.takeDiagnostics())
        into.diagnostics.push_back(std::move(diagnostic));
}

} // namespace forkpoint
