// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/finding.h"
#include "model/metric_comparison.h"

#include <vector>

namespace forkpoint {

/// The first differing bit of each metric against the first digit that shows it, and what printed
/// numbers cannot tell. Metrics that are context give none.
std::vector<Finding> metricFindings(const std::vector<MetricComparison> &metrics,
                                    bool checkpointsDiffer);

} // namespace forkpoint
