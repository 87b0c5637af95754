// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/verdict.h"
#include "model/metrics/metric_meeting.h"
#include "model/metrics/metric_series.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// B - A of one metric over some neighbouring common steps; usually of one step alone.
struct MetricDifference
{
    std::int64_t first = 0, last = 0;
    std::uint64_t steps = 0;     ///< common ones from first to last
    std::uint64_t different = 0; ///< of these: that surely differ
    /// The smallest and the largest finite B - A; both 0 where nothing tells them apart.
    std::optional<double> least, largest;
    bool operator==(const MetricDifference &) const = default;
};

/// Steps that both runs logged and whose numbers are no pair: they are left out of everything else.
struct UnmetSteps
{
    std::uint64_t count = 0;
    MetricMeeting why = MetricMeeting::Same; ///< of the first
    std::int64_t first = 0;
    std::int64_t windowA = 0, windowB = 0; ///< there, of means over unlike windows
    bool operator==(const UnmetSteps &) const = default;
};

/// One metric that both runs logged.
struct MetricComparison
{
    /// More common steps than this share their entries of `differences`.
    static constexpr std::size_t MostDifferences = 1024;

    std::string name;
    bool bitsKnown = true;            ///< of both, in one type: numbers that are alike are equal
    bool context = false;             ///< a time, a rate, memory: decides nothing
    std::uint64_t commonSteps = 0;    ///< at which the two numbers meet
    std::uint64_t differentSteps = 0; ///< of these: that surely differ
    std::uint64_t oneSidedSteps = 0;  ///< a number on one side only, inside the overlap of
                                      ///< the rows, also those that leave it open
    UnmetSteps unmet;
    std::vector<MetricDifference> differences; ///< rising, every common step in one of them
    /// Only where bits are known: of rounded numbers the bits may part earlier than their texts.
    std::optional<std::int64_t> firstBitDifference;
    /// The first step at which no value could have been logged as both numbers.
    std::optional<std::int64_t> firstProvenDifference;
    /// Steps at which one side alone is NaN or infinite, and the first of them.
    std::uint64_t nonFiniteSteps = 0;
    std::optional<std::int64_t> firstNonFinite;
    bool isNonFiniteInA = false; ///< there; else in B
    /// Digits after the point -> first step whose numbers surely differ when printed so.
    std::map<int, std::int64_t> firstPrintedDifference;
};

/// Compares the metrics that both runs logged under one name at common steps, as far as what was
/// logged there is the same thing (MetricMeetings). A rounded number is
/// an interval: it differs from another where the two are disjoint.
std::vector<MetricComparison> compareMetrics(const std::vector<MetricSeries> &a,
                                             const std::vector<MetricSeries> &b);
/// Of parts of two logs, whose rows meet as those of the whole do.
std::vector<MetricComparison> compareMetrics(const std::vector<MetricSeries> &a,
                                             const std::vector<MetricSeries> &b,
                                             const MetricMeetings &meetings);

/// What the metrics alone say, for runs without checkpoints: metrics that are context left out, and
/// equal only where the bits of all are known.
VerdictFacts metricFacts(const std::vector<MetricSeries> &a, const std::vector<MetricSeries> &b,
                         const std::vector<MetricComparison> &compared);

/// The first of those that surely differ and are no context: by step, then in causal order, then by
/// name. Null if none does.
const MetricComparison *firstToPart(const std::vector<MetricComparison> &compared);

} // namespace forkpoint
