// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics_table.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Names of metrics in one file; real loggers write below a thousand.
constexpr std::size_t MaxMetrics = 10'000;

} // namespace

bool MetricsTable::add(std::string_view metric, std::int64_t step, double value)
{
    auto found = m_points.find(metric);
    const bool isNew = found == m_points.end();
    if (m_count == m_maxPoints || (isNew && m_points.size() == MaxMetrics)) {
        m_full = true;
        return false;
    }
    if (isNew)
        found = m_points.emplace(metric, std::vector<MetricPoint>()).first;
    found->second.push_back({step, value});
    ++m_count;
    return true;
}

void MetricsTable::addBadLine(std::uint64_t line, std::string why)
{
    if (m_badLines++ > 0)
        return;
    m_firstBadLine = line;
    m_firstBadReason = std::move(why);
}

void MetricsTable::addNote(std::string code, std::string place, std::string text)
{
    m_notes.push_back({Severity::Note, std::move(code), m_file, std::move(place), std::move(text)});
}

std::size_t MetricsTable::sortPoints(std::vector<MetricPoint> &points) const
{
    std::stable_sort(points.begin(), points.end(),
                     [](const auto &left, const auto &right) { return left.step < right.step; });
    std::size_t kept = 0;
    for (const MetricPoint &point : points) {
        if (kept > 0 && points[kept - 1].step == point.step)
            --kept;
        points[kept++] = point;
    }
    const std::size_t dropped = points.size() - kept;
    points.resize(kept);
    return dropped;
}

std::vector<MetricSeries> MetricsTable::takeSeries()
{
    std::vector<MetricSeries> result;
    for (auto &[name, points] : m_points) {
        m_repeated += sortPoints(points);
        result.push_back({name, m_file, true, std::move(points)});
    }
    m_points.clear();
    return result;
}

Diagnostics MetricsTable::takeDiagnostics()
{
    if (m_badLines > 0) {
        const std::string others = m_badLines == 1
            ? std::string()
            : ", and " + std::to_string(m_badLines - 1) + " more such lines";
        m_notes.push_back({Severity::Warning, "bad-line", m_file,
                           "line " + std::to_string(m_firstBadLine), m_firstBadReason + others});
    }
    if (m_repeated > 0) {
        addNote("repeated-step", {},
                "repeats steps; the later line counts, " + std::to_string(m_repeated)
                    + " earlier points do not");
    }
    if (m_full) {
        m_notes.push_back({Severity::Warning,
                           std::string(toString(ErrorCode::Limit)),
                           m_file,
                           {},
                           "may hold at most " + std::to_string(m_maxPoints) + " points of "
                               + std::to_string(MaxMetrics) + " metrics, the rest was not read"});
    }
    return std::move(m_notes);
}

} // namespace forkpoint
