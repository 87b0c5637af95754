// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_comparison.h"

#include "model/metrics/metric_kind.h"
#include "model/metrics/metric_relation.h"
#include "model/same_bits.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace forkpoint {

namespace {

/// Calls visit(point of A, point of B) for every step that both logged, rising.
template <class Visit>
void forEachSharedStep(const MetricSeries &a, const MetricSeries &b, Visit visit)
{
    std::size_t j = 0;
    for (std::size_t i = 0; i < a.points.size(); ++i) {
        while (j < b.points.size() && b.points[j].step < a.points[i].step)
            ++j;
        if (j < b.points.size() && b.points[j].step == a.points[i].step)
            visit(i, j);
    }
}

/// Calls visit(step, sample of A, sample of B) for those at which the numbers meet, rising.
template <class Visit>
void forEachCommonStep(const MetricSeries &a, const MetricSeries &b, const MetricMeetings &meetings,
                       Visit visit)
{
    forEachSharedStep(a, b, [&](std::size_t i, std::size_t j) {
        if (meetings.of(a, i, b, j) == MetricMeeting::Same)
            visit(a.points[i].step, sampleAt(a, i), sampleAt(b, j));
    });
}

UnmetSteps unmetSteps(const MetricSeries &a, const MetricSeries &b, const MetricMeetings &meetings)
{
    UnmetSteps unmet;
    forEachSharedStep(a, b, [&](std::size_t i, std::size_t j) {
        const MetricMeeting why = meetings.of(a, i, b, j);
        if (why != MetricMeeting::Same && unmet.count++ == 0)
            unmet = {1, why, a.points[i].step, windowAt(a, i), windowAt(b, j)};
    });
    return unmet;
}

/// The first and the last step of which a series has a row.
std::pair<std::int64_t, std::int64_t> rowsOf(const MetricSeries &series)
{
    std::pair range(series.points.front().step, series.points.back().step);
    if (!series.blanks.empty()) {
        range.first = std::min(range.first, series.blanks.front());
        range.second = std::max(range.second, series.blanks.back());
    }
    return range;
}

std::uint64_t pointsWithin(const MetricSeries &series, std::int64_t from, std::int64_t to)
{
    return std::uint64_t(
        std::count_if(series.points.begin(), series.points.end(), [&](const MetricPoint &point) {
            return point.step >= from && point.step <= to;
        }));
}

/// Inside of what both logged, wherever what is compared of it ends.
std::uint64_t oneSidedSteps(const MetricSeries &a, const MetricSeries &b,
                            const MetricMeetings &meetings, std::uint64_t shared)
{
    const auto rowsA = rowsOf(meetings.wholeOfA(a)), rowsB = rowsOf(meetings.wholeOfB(b));
    const std::int64_t from = std::max(rowsA.first, rowsB.first);
    const std::int64_t to = std::min(rowsA.second, rowsB.second);
    return pointsWithin(a, from, to) + pointsWithin(b, from, to) - 2 * shared;
}

void addStep(MetricDifference &entry, std::int64_t step, const MetricSample &a,
             const MetricSample &b, MetricRelation relation)
{
    if (entry.steps++ == 0)
        entry.first = step;
    entry.last = step;
    const bool differ = relation == MetricRelation::Different;
    entry.different += differ ? 1u : 0u;
    const bool areIntegers = a.isInteger && b.isInteger;
    const double difference = !differ ? 0.0
        : areIntegers                 ? double(b.integer() - a.integer())
                                      : b.value - a.value;
    if (!std::isfinite(difference))
        return;
    entry.least = std::min(entry.least.value_or(difference), difference);
    entry.largest = std::max(entry.largest.value_or(difference), difference);
}

/// Where all numbers of both were printed with one last place, their texts are what prints so.
class CommonPlace
{
public:
    void look(std::int64_t step, const MetricSample &a, const MetricSample &b)
    {
        if (!a.rounded() || !b.rounded() || a.printed->exponent != b.printed->exponent
            || (m_exponent && *m_exponent != a.printed->exponent))
            m_broken = true;
        else
            m_exponent = a.printed->exponent;
        if (!m_broken && !m_first && surelyDifferent(*a.printed, *b.printed))
            m_first = step;
    }

    void addTo(std::map<int, std::int64_t> &firstPrinted) const
    {
        constexpr int MostDigits = 17;
        if (m_broken || !m_exponent || *m_exponent >= 0 || *m_exponent < -MostDigits)
            return;
        firstPrinted.erase(-*m_exponent);
        if (m_first)
            firstPrinted.emplace(-*m_exponent, *m_first);
    }

private:
    std::optional<std::int32_t> m_exponent;
    std::optional<std::int64_t> m_first;
    bool m_broken = false;
};

void foldDifferences(const MetricSeries &a, const MetricSeries &b, const MetricMeetings &meetings,
                     MetricComparison &result)
{
    constexpr std::uint64_t Most = MetricComparison::MostDifferences;
    const std::uint64_t stepsOfEntry = (result.commonSteps + Most - 1) / Most;
    forEachCommonStep(
        a, b, meetings, [&](std::int64_t step, const MetricSample &one, const MetricSample &other) {
            if (result.differences.empty() || result.differences.back().steps == stepsOfEntry)
                result.differences.emplace_back();
            addStep(result.differences.back(), step, one, other,
                    relationOf(one, other, result.bitsKnown));
        });
}

void lookForNonFinite(std::int64_t step, const MetricSample &one, const MetricSample &other,
                      MetricComparison &result)
{
    if (std::isfinite(one.value) == std::isfinite(other.value))
        return;
    if (result.nonFiniteSteps++ > 0)
        return;
    result.firstNonFinite = step;
    result.isNonFiniteInA = !std::isfinite(one.value);
}

MetricComparison compareSeries(const MetricSeries &a, const MetricSeries &b,
                               const MetricMeetings &meetings)
{
    static constexpr std::array Digits = {4, 6};
    MetricComparison result;
    result.name = a.name;
    const bool holdBits = (a.integers && b.integers) || (!a.beyondFloat64 && !b.beyondFloat64);
    // That two rows are one step is told by numbers that were printed, where no step is.
    const bool areStated =
        a.steps == MetricSeries::Steps::Stated && b.steps == MetricSeries::Steps::Stated;
    result.bitsKnown =
        a.bitsKnown && b.bitsKnown && a.float32 == b.float32 && holdBits && areStated;
    result.context = isBookkeepingMetric(a.name);
    result.unmet = unmetSteps(a, b, meetings);
    CommonPlace place;
    forEachCommonStep(
        a, b, meetings, [&](std::int64_t step, const MetricSample &one, const MetricSample &other) {
            ++result.commonSteps;
            if (relationOf(one, other, result.bitsKnown) == MetricRelation::Different) {
                ++result.differentSteps;
                if (!result.firstProvenDifference)
                    result.firstProvenDifference = step;
            }
            lookForNonFinite(step, one, other, result);
            for (const int digits : Digits) {
                if (surelyPrintApart(one, other, digits))
                    result.firstPrintedDifference.emplace(digits, step);
            }
            place.look(step, one, other);
        });
    if (result.commonSteps == 0)
        return result;
    place.addTo(result.firstPrintedDifference);
    if (result.bitsKnown)
        result.firstBitDifference = result.firstProvenDifference;
    result.oneSidedSteps = oneSidedSteps(a, b, meetings, result.commonSteps + result.unmet.count);
    foldDifferences(a, b, meetings, result);
    return result;
}

void addMetric(VerdictFacts &facts, const MetricComparison &metric)
{
    const bool differ = metric.firstProvenDifference.has_value();
    facts.bitsDiffer |= differ;
    facts.hole |= metric.oneSidedSteps > 0;
    ++facts.coverage.metricsCompared;
    const Strength strength = metric.bitsKnown ? Strength::Bytes : Strength::Printed;
    if (differ)
        facts.differenceStrength = std::max(facts.differenceStrength, strength);
    if (metric.differentSteps < metric.commonSteps)
        facts.strength =
            facts.strength == Strength::None ? strength : std::min(facts.strength, strength);
}

} // namespace

std::vector<MetricComparison> compareMetrics(const std::vector<MetricSeries> &a,
                                             const std::vector<MetricSeries> &b)
{
    return compareMetrics(a, b, MetricMeetings(a, b));
}

std::vector<MetricComparison> compareMetrics(const std::vector<MetricSeries> &a,
                                             const std::vector<MetricSeries> &b,
                                             const MetricMeetings &meetings)
{
    std::map<std::string_view, const MetricSeries *> byName;
    for (const MetricSeries &series : b)
        byName.emplace(series.name, &series);
    std::vector<MetricComparison> result;
    for (const MetricSeries &series : a) {
        const auto partner = byName.find(series.name);
        if (partner == byName.end())
            continue;
        MetricComparison comparison = compareSeries(series, *partner->second, meetings);
        if (comparison.commonSteps + comparison.unmet.count > 0)
            result.push_back(std::move(comparison));
    }
    std::sort(result.begin(), result.end(),
              [](const auto &left, const auto &right) { return left.name < right.name; });
    return result;
}

VerdictFacts metricFacts(const std::vector<MetricSeries> &a, const std::vector<MetricSeries> &b,
                         const std::vector<MetricComparison> &compared)
{
    VerdictFacts facts;
    std::set<std::string_view> names;
    std::uint64_t points = 0, common = 0;
    for (const auto *side : {&a, &b}) {
        for (const MetricSeries &series : *side) {
            if (isBookkeepingMetric(series.name)) {
                facts.metricsOfMachine = true;
                continue;
            }
            names.insert(series.name);
            points += series.points.size();
            facts.pointsPassedOver += series.passedOver;
        }
    }
    std::uint64_t named = 0; // by both
    for (const MetricComparison &metric : compared) {
        if (metric.context)
            continue;
        ++named;
        if (metric.commonSteps > 0)
            addMetric(facts, metric);
        facts.notComparable |= metric.unmet.count > 0;
        common += metric.commonSteps + metric.unmet.count;
    }
    facts.stepsOfOneSide = points > 2 * common;
    facts.coverage.metricsTotal = names.size();
    // What one side did not log is no difference of the runs: a log never tells all.
    facts.oneSidedIncomplete = named < facts.coverage.metricsTotal;
    facts.nothingInScope = named == 0;
    return facts;
}

const MetricComparison *firstToPart(const std::vector<MetricComparison> &compared)
{
    const auto key = [](const MetricComparison &metric) {
        return std::tuple(*metric.firstProvenDifference, causalPlace(metricStage(metric.name)),
                          std::string_view(metric.name));
    };
    const MetricComparison *first = nullptr;
    for (const MetricComparison &metric : compared) {
        if (metric.context || !metric.firstProvenDifference)
            continue;
        if (!first || key(metric) < key(*first))
            first = &metric;
    }
    return first;
}

} // namespace forkpoint
