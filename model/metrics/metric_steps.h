// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/metric_series.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// The first and the last step that count.
using StepRange = std::pair<std::int64_t, std::int64_t>;

/// What was logged in these steps; metrics that were not are left out.
std::vector<MetricSeries> withinSteps(const std::vector<MetricSeries> &all, const StepRange &steps);

/// "step 5", "steps 5 to 9".
std::string toText(const StepRange &steps);

} // namespace forkpoint
