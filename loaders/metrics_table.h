// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "model/diagnostic.h"
#include "model/metric_series.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// Metrics of one file while it is read: points by metric name, what was odd, and the caps.
class MetricsTable
{
public:
    explicit MetricsTable(std::string file, std::size_t maxPoints = limits::MetricsPoints)
        : m_file(std::move(file)),
          m_maxPoints(maxPoints)
    {
    }

    /// False once the cap is reached: stop reading.
    bool add(std::string_view metric, std::int64_t step, double value);
    /// A line that holds no points though it should; only the first is named, all are counted.
    void addBadLine(std::uint64_t line, std::string why);
    void addNote(std::string code, std::string place, std::string text);
    bool isEmpty() const { return m_points.empty(); }

    /// Series sorted by name, their points by step; of a step logged twice the later line counts,
    /// and a note says so.
    std::vector<MetricSeries> takeSeries();
    /// What was said so far, the summary of bad lines and the caps included. Call it last.
    Diagnostics takeDiagnostics();

    const std::string &file() const { return m_file; }

private:
    std::size_t sortPoints(std::vector<MetricPoint> &points) const;

    std::string m_file;
    std::size_t m_maxPoints;
    std::size_t m_count = 0;
    std::map<std::string, std::vector<MetricPoint>, std::less<>> m_points;
    std::uint64_t m_badLines = 0;
    std::uint64_t m_firstBadLine = 0;
    std::string m_firstBadReason;
    std::uint64_t m_repeated = 0;
    bool m_full = false;
    Diagnostics m_notes;
};

} // namespace forkpoint
