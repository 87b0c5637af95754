// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/metrics/metric_comparison.h"
#include "model/metrics/metric_steps.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace forkpoint {

/// The first differing bit of each metric against the first digit that shows it, and what printed
/// numbers cannot tell. Metrics that are context give none.
std::vector<Finding> metricFindings(const std::vector<MetricComparison> &metrics,
                                    bool checkpointsDiffer);

/// Metrics that one run alone logged, or both at no common step, by name: nothing is known of these.
/// Those that are context are left out, and those that `takes` does not; nothing where there are none.
std::optional<Finding> loneMetrics(const std::vector<MetricSeries> &a,
                                   const std::vector<MetricSeries> &b,
                                   const std::vector<MetricComparison> &compared,
                                   const std::function<bool(std::string_view)> &takes);

/// The first differing bit against the first visible digit: the step at which state or records part
/// beside the first at which a printed metric would show it. Nothing where there is no metric that
/// both logged with all its bits.
std::optional<Finding> firstBitAgainstDigit(std::optional<std::int64_t> firstDivergence,
                                            const std::vector<MetricComparison> &metrics);

/// Adds to the sentence of a verdict that found no difference elsewhere that logged numbers differ.
/// They decide nothing.
void tellOfLogs(Verdict &verdict, const std::vector<MetricComparison> &metrics);

/// Adds to the sentence of a verdict of logs that these steps alone were asked for.
void tellOfSteps(Verdict &verdict, const StepRange &steps);

} // namespace forkpoint
