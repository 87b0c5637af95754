// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_shift.h"

#include "model/format.h"
#include "model/metrics/metric_kind.h"
#include "model/metrics/metric_relation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace forkpoint {

namespace {

constexpr std::int64_t MostShift = 16;
/// Steps that are alike, and numbers in them that are not the same: fewer are alike by chance.
constexpr std::size_t LeastSteps = 3;

struct Shift
{
    std::int64_t by = 0;
    std::size_t steps = 0;
    std::int64_t first = 0, last = 0; ///< of A
};

/// Nothing where a step that meets another differs, or where too few meet.
std::optional<Shift> shiftBy(const MetricSeries &a, const MetricSeries &b, std::int64_t by)
{
    Shift shift{by};
    std::set<double> values;
    for (std::size_t i = 0, j = 0; i < a.points.size() && j < b.points.size();) {
        const std::int64_t step = a.points[i].step, other = b.points[j].step - by;
        if (step != other) {
            ++(step < other ? i : j);
            continue;
        }
        const bool bitsKnown = a.bitsKnown && b.bitsKnown && a.float32 == b.float32;
        if (relationOf(sampleAt(a, i), sampleAt(b, j), bitsKnown) == MetricRelation::Different)
            return std::nullopt;
        if (shift.steps++ == 0)
            shift.first = step;
        shift.last = step;
        if (values.size() < LeastSteps && a.points[i].value == a.points[i].value)
            values.insert(a.points[i].value);
        ++i;
        ++j;
    }
    const std::size_t half = std::min(a.points.size(), b.points.size()) / 2;
    const bool isEnough = values.size() >= LeastSteps && shift.steps >= std::max(LeastSteps, half);
    return isEnough ? std::optional(shift) : std::nullopt;
}

/// Steps near the ends of 64 bits are no counters, and would overflow.
bool canShift(const MetricSeries &series)
{
    constexpr std::int64_t Far = std::int64_t(1) << 62;
    return !series.points.empty() && series.points.front().step > -Far
        && series.points.back().step < Far;
}

std::optional<Shift> shiftOf(const MetricSeries &a, const MetricSeries &b)
{
    if (!canShift(a) || !canShift(b))
        return std::nullopt;
    for (std::int64_t by = 1; by <= MostShift; ++by) {
        for (const std::int64_t signedBy : {by, -by}) {
            if (const auto shift = shiftBy(a, b, signedBy))
                return shift;
        }
    }
    return std::nullopt;
}

Finding describe(const std::map<std::string_view, Shift> &metrics)
{
    const auto &[name, shift] = *metrics.begin();
    const std::string distance = std::to_string(shift.by < 0 ? -shift.by : shift.by);
    Finding finding{"metric-shifted", Certainty::ConsistentWith, Severity::Note, {}, {}};
    for (const auto &metric : metrics)
        finding.where.emplace_back(metric.first);
    finding.text = std::string(name)
        + (metrics.size() > 1
               ? " and " + counted(metrics.size() - 1, "other metric", "other metrics")
               : "")
        + ": B at step n" + (shift.by < 0 ? "-" : "+") + distance + " equals A at step n for "
        + counted(shift.steps, "step", "steps") + ", n from " + std::to_string(shift.first) + " to "
        + std::to_string(shift.last) + ": the two may count their steps "
        + counted(std::uint64_t(shift.by < 0 ? -shift.by : shift.by), "step", "steps") + " apart";
    return finding;
}

} // namespace

std::optional<Finding> shiftedMetrics(const std::vector<MetricSeries> &a,
                                      const std::vector<MetricSeries> &b,
                                      const std::vector<MetricComparison> &compared)
{
    std::set<std::string_view> agree;
    for (const MetricComparison &metric : compared) {
        if (!metric.firstProvenDifference)
            agree.insert(metric.name);
    }
    std::map<std::string_view, const MetricSeries *> inB;
    for (const MetricSeries &series : b)
        inB.emplace(series.name, &series);
    std::map<std::int64_t, std::map<std::string_view, Shift>> shifts;
    for (const MetricSeries &series : a) {
        const auto other = inB.find(series.name);
        if (other == inB.end() || agree.contains(series.name) || isBookkeepingMetric(series.name))
            continue;
        if (const auto shift = shiftOf(series, *other->second))
            shifts[shift->by].emplace(series.name, *shift);
    }
    const auto most =
        std::max_element(shifts.begin(), shifts.end(), [](const auto &left, const auto &right) {
            return left.second.size() < right.second.size();
        });
    return most == shifts.end() ? std::nullopt : std::optional(describe(most->second));
}

} // namespace forkpoint
