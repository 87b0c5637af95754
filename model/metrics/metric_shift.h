// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/metrics/metric_comparison.h"

#include <optional>
#include <vector>

namespace forkpoint {

/// That metrics of B are those of A some steps earlier or later, as of a run that resumed with a
/// counter that is off by one: a hint, for what is logged does not say so. Of the metrics that
/// surely differ or share no step; the shift that most of them have. Nothing where none is.
std::optional<Finding> shiftedMetrics(const std::vector<MetricSeries> &a,
                                      const std::vector<MetricSeries> &b,
                                      const std::vector<MetricComparison> &compared);

} // namespace forkpoint
