// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_merge.h"

#include "model/format.h"
#include "model/metrics/metric_comparison.h"
#include "model/metrics/metric_kind.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace forkpoint {

namespace {

/// How much of its numbers a file tells.
auto exactness(const MetricSeries &series)
{
    return std::pair(series.bitsKnown, !series.float32);
}

/// The step at which two files surely log different numbers.
std::optional<std::int64_t> disagreement(const MetricSeries &one, const MetricSeries &other)
{
    const auto compared = compareMetrics({one}, {other});
    const bool decides = !compared.empty() && !compared.front().context;
    return decides ? compared.front().firstProvenDifference : std::nullopt;
}

/// Calls visit(from first, from then) for every step of either, rising; null where one has none.
template <class Visit>
void forEachStep(const MetricSeries &first, const MetricSeries &then, Visit visit)
{
    const auto &a = first.points, &b = then.points;
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const bool hasA = i < a.size() && (j == b.size() || a[i].step <= b[j].step);
        const bool hasB = j < b.size() && (i == a.size() || b[j].step <= a[i].step);
        visit(hasA ? std::optional(i) : std::nullopt, hasB ? std::optional(j) : std::nullopt);
        i += hasA ? 1 : 0;
        j += hasB ? 1 : 0;
    }
}

/// Two files of one run that agree where they meet: of a step that both have, the one counts that
/// begins later, as of a run that went on from an earlier step.
MetricSeries joined(const MetricSeries &first, const MetricSeries &then)
{
    MetricSeries result{first.name, first.file, first.bitsKnown, {}, first.float32};
    result.integers = first.integers && then.integers;
    result.beyondFloat64 = first.beyondFloat64 || then.beyondFloat64;
    result.bitsKnown = result.bitsKnown && (result.integers || !result.beyondFloat64);
    result.passedOver = first.passedOver + then.passedOver;
    std::set_union(first.blanks.begin(), first.blanks.end(), then.blanks.begin(), then.blanks.end(),
                   std::back_inserter(result.blanks));
    const PrintedDecimal noInterval{0, 0, false, true, false};
    const bool printed = !first.printed.empty() || !then.printed.empty();
    forEachStep(first, then, [&](auto inFirst, auto inThen) {
        const MetricSeries &from = inThen ? then : first;
        const std::size_t i = inThen ? *inThen : *inFirst;
        result.points.push_back(from.points[i]);
        if (printed)
            result.printed.push_back(from.printed.empty() ? noInterval : from.printed[i]);
    });
    return result;
}

std::uint64_t stepsOfOneAlone(const MetricSeries &one, const MetricSeries &other)
{
    std::uint64_t count = 0;
    forEachStep(one, other, [&](auto inOne, auto inOther) { count += inOne && !inOther ? 1 : 0; });
    return count;
}

/// Joins the series of one file to those of the files before it.
class Merger
{
public:
    Merger(FoundMetrics &into, const std::string &file, bool sameFormat)
        : m_into(into),
          m_file(file),
          m_sameFormat(sameFormat)
    {
    }

    void add(MetricSeries series)
    {
        const auto [place, isNew] = m_into.places.emplace(series.name, m_into.series.size());
        if (isNew) {
            m_into.series.push_back(std::move(series));
            return;
        }
        MetricSeries &found = m_into.series[place->second];
        const auto step = disagreement(found, series);
        if (step)
            disagree(found, series, *step);
        if (!step && exactness(found) == exactness(series)) {
            const bool begins = found.points.front().step <= series.points.front().step;
            found = begins ? joined(found, series) : joined(series, found);
            return;
        }
        if (std::pair(exactness(found), found.points.size())
            < std::pair(exactness(series), series.points.size()))
            std::swap(found, series);
        m_alsoIn.insert(series.file + " holds metrics that " + found.file
                        + " has more exactly or wholly; those count");
        if (!isBookkeepingMetric(series.name))
            m_leftOut += stepsOfOneAlone(series, found);
    }

    void finish()
    {
        for (const std::string &text : m_alsoIn)
            m_into.diagnostics.push_back({Severity::Note, "metrics-twice", m_file, {}, text});
        if (m_leftOut == 0)
            return;
        m_into.diagnostics.push_back({Severity::Warning,
                                      "metrics-twice",
                                      m_file,
                                      {},
                                      "left out: " + counted(m_leftOut, "number", "numbers")
                                          + " of steps that other files lack, of metrics that they "
                                            "have more exactly or wholly"});
        m_into.complete = false;
    }

private:
    void disagree(const MetricSeries &found, const MetricSeries &series, std::int64_t step)
    {
        const std::string text = found.file + " and " + series.file + " both log " + series.name
            + " and differ at step " + std::to_string(step);
        if (m_sameFormat && m_into.conflict.empty())
            m_into.conflict = text;
        m_into.diagnostics.push_back(
            {Severity::Warning, "metrics-disagree", series.file, {}, text});
        m_into.complete = false;
    }

    FoundMetrics &m_into;
    const std::string &m_file;
    bool m_sameFormat;
    std::set<std::string> m_alsoIn;
    std::uint64_t m_leftOut = 0;
};

} // namespace

void mergeMetrics(const std::string &format, MetricsTable &table, FoundMetrics &into)
{
    const bool sameFormat = into.format.empty() || into.format == format;
    Merger merger(into, table.file(), sameFormat);
    for (MetricSeries &series : table.takeSeries())
        merger.add(std::move(series));
    merger.finish();
    into.format = sameFormat ? format : "metrics";
    into.complete = into.complete && table.complete();
    for (Diagnostic &diagnostic : table.takeDiagnostics())
        into.diagnostics.push_back(std::move(diagnostic));
}

} // namespace forkpoint
