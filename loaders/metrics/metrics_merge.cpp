// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_merge.h"

#include "model/format.h"
#include "model/metrics/metric_comparison.h"
#include "model/metrics/metric_kind.h"

#include <algorithm>
#include <iterator>
#include <map>
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
std::optional<std::int64_t> disagreement(MetricSeries one, MetricSeries other)
{
    // Rows that are counted meet as they are: of one run's files there is nothing better.
    one.steps = other.steps = MetricSeries::Steps::Stated;
    const auto compared = compareMetrics({std::move(one)}, {std::move(other)});
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
    result.steps = std::max(first.steps, then.steps);
    const PrintedDecimal noInterval{0, 0, false, true, false};
    const bool printed = !first.printed.empty() || !then.printed.empty();
    const bool means = !first.windows.empty() || !then.windows.empty();
    forEachStep(first, then, [&](auto inFirst, auto inThen) {
        const MetricSeries &from = inThen ? then : first;
        const std::size_t i = inThen ? *inThen : *inFirst;
        result.points.push_back(from.points[i]);
        if (printed)
            result.printed.push_back(from.printed.empty() ? noInterval : from.printed[i]);
        if (means)
            result.windows.push_back(from.windows.empty() ? 0 : from.windows[i]);
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

/// A metric that several tables hold, as far as these agree, and where one first does not.
struct SharedMetric
{
    std::vector<MetricSeries> parts; ///< by how exact they are: joined, they could not be compared
    std::string firstFile;
    std::uint64_t files = 1;
    std::optional<std::int64_t> apart;
    std::string apartFile; ///< which differs there
};

using SharedMetrics = std::map<std::string, SharedMetric>;

/// The metric as one more file has it.
void take(const MetricSeries &series, SharedMetric &metric)
{
    for (const MetricSeries &part : metric.parts) {
        metric.apart = disagreement(part, series);
        if (metric.apart) {
            metric.apartFile = series.file;
            return;
        }
    }
    const auto like =
        std::find_if(metric.parts.begin(), metric.parts.end(), [&](const MetricSeries &part) {
            return exactness(part) == exactness(series);
        });
    if (like == metric.parts.end())
        metric.parts.push_back(series);
    else
        *like = joined(*like, series);
}

SharedMetrics sharedMetrics(const std::vector<std::vector<MetricSeries>> &tables)
{
    SharedMetrics shared;
    for (const auto &table : tables) {
        for (const MetricSeries &series : table) {
            const auto [place, isNew] =
                shared.try_emplace(series.name, SharedMetric{{series}, series.file, 1, {}, {}});
            SharedMetric &metric = place->second;
            if (isNew)
                continue;
            ++metric.files;
            if (metric.apart)
                continue;
            take(series, metric);
        }
    }
    return shared;
}

using enum EventFileChain::Telling;

bool areAll(const std::vector<TableBeside> &tables, EventFileChain::Telling telling)
{
    return std::all_of(tables.begin(), tables.end(),
                       [&](const TableBeside &one) { return one.telling == telling; });
}

/// Says what was written at the same time, of the metric that parts first.
void tellSideBySide(const SharedMetrics &shared, const std::vector<TableBeside> &tables,
                    FoundMetrics &into)
{
    const SharedMetric *first = nullptr, *alike = nullptr;
    for (const auto &[name, metric] : shared) {
        if (metric.apart && (!first || *metric.apart < *first->apart))
            first = &metric;
        if (metric.files > 1 && !alike)
            alike = &metric;
    }
    Diagnostic told{Severity::Note, "written-together", {}, {}, "was written at the same time as "};
    if (!alike)
        return;
    const std::string &name = (first ? first : alike)->parts.front().name;
    const std::string apart = "; neither went on from the other, and their metrics are kept apart, "
                              "such as '"
        + name + " [" + tables.front().label + "]'";
    told.file = (first ? first : alike)->firstFile;
    if (first) {
        told.severity = Severity::Warning;
        told.text += first->apartFile + " and logs another " + name + " at step "
            + std::to_string(*first->apart) + apart;
    } else {
        told.text += counted(tables.size() - 1, "other file", "other files")
            + ", and where they meet the numbers are the same"
            + (areAll(tables, Suffix) ? apart : "; they count as one");
    }
    const bool hasUntold = std::any_of(tables.begin(), tables.end(), [](const TableBeside &one) {
        return one.telling == Nothing;
    });
    if (first && hasUntold) {
        told.text += "; their names tell no host or suffix of each, by which they could meet "
                     "those of another run";
        into.complete = false;
    }
    into.diagnostics.push_back(std::move(told));
}

void addSeries(const std::string &format, MetricsTable &table, std::vector<MetricSeries> all,
               FoundMetrics &into)
{
    const bool sameFormat = into.format.empty() || into.format == format;
    Merger merger(into, table.file(), sameFormat);
    for (MetricSeries &series : all)
        merger.add(std::move(series));
    merger.finish();
    into.format = sameFormat ? format : "metrics";
    into.complete = into.complete && table.complete();
    for (Diagnostic &diagnostic : table.takeDiagnostics())
        into.diagnostics.push_back(std::move(diagnostic));
}

} // namespace

void mergeMetrics(const std::string &format, MetricsTable &table, FoundMetrics &into)
{
    addSeries(format, table, table.takeSeries(), into);
}

void mergeSideBySide(const std::string &format, std::vector<TableBeside> tables, FoundMetrics &into)
{
    std::vector<std::vector<MetricSeries>> series;
    for (TableBeside &one : tables)
        series.push_back(one.table.takeSeries());
    const SharedMetrics shared = sharedMetrics(series);
    const bool named = areAll(tables, Suffix);
    tellSideBySide(shared, tables, into);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        for (MetricSeries &one : series[i]) {
            const SharedMetric &metric = shared.at(one.name);
            if (metric.apart || (metric.files > 1 && named))
                one.name += " [" + tables[i].label + "]";
        }
        addSeries(format, tables[i].table, std::move(series[i]), into);
    }
}

} // namespace forkpoint
