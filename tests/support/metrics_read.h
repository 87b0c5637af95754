// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics as a reader leaves them, for tests of what counts, what is told, and what may be said.
#pragma once

#include "loaders/metrics/metrics_files.h"
#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/byte_source.h"
#include "model/metrics/metric_comparison.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string_view>

namespace forkpoint::test {

using Curve = std::map<std::int64_t, double>;

struct Read
{
    std::vector<MetricSeries> series;
    Diagnostics diagnostics;
    bool ok = false, complete = false;

    const MetricSeries *find(std::string_view name) const
    {
        for (const MetricSeries &one : series) {
            if (one.name == name)
                return &one;
        }
        return nullptr;
    }
    Curve curve(std::string_view name) const
    {
        Curve result;
        if (const MetricSeries *found = find(name)) {
            for (const MetricPoint &point : found->points)
                result[point.step] = point.value;
        }
        return result;
    }
    /// Whether a diagnostic of that code has these words; one at most has.
    bool says(std::string_view code, std::string_view words = {}) const
    {
        return std::count_if(diagnostics.begin(), diagnostics.end(),
                             [&](const Diagnostic &d) {
                                 return d.code == code
                                     && (d.place + ": " + d.text).find(words) != std::string::npos;
                             })
            == 1;
    }
};

inline Read finish(MetricsTable &table, const Status &status)
{
    Read result;
    result.ok = status.ok();
    result.series = table.takeSeries();
    result.complete = table.complete();
    result.diagnostics = table.takeDiagnostics();
    return result;
}

inline std::vector<std::byte> bytesOf(std::string_view text)
{
    const ByteView bytes = asBytes(text);
    return {bytes.begin(), bytes.end()};
}

using Reader = Status (*)(const ByteSource &, MetricsTable &, std::stop_token);

inline Read readWith(Reader reader, std::string_view text)
{
    MetricsTable table("log");
    return finish(table, reader(MemorySource("log", bytesOf(text)), table, {}));
}

/// A folder that holds metrics alone.
inline Read readFolder(const std::filesystem::path &folder)
{
    Read result;
    const auto listing = listDirectory(folder, "run");
    const auto found = listing.ok() ? findMetricsAlone(folder, *listing, {})
                                    : Result<FoundMetrics>(listing.error());
    result.ok = found.ok() && found->conflict.empty();
    if (!found.ok())
        return result;
    result.series = found->series;
    result.complete = found->complete;
    result.diagnostics = found->diagnostics;
    return result;
}

inline Outcome outcome(const Read &a, const Read &b)
{
    VerdictFacts facts = metricFacts(a.series, b.series, compareMetrics(a.series, b.series));
    facts.incomplete = !a.complete || !b.complete;
    return decide(facts).outcome;
}

} // namespace forkpoint::test
