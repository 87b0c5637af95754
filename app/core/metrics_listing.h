// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/metric_series.h"
#include "model/text/json_writer.h"

#include <string>
#include <vector>

namespace forkpoint {

/// The metrics of a run in the document of `inspect`; nothing where there are none.
void writeMetricSeries(JsonWriter &json, const std::vector<MetricSeries> &metrics);
/// For people: one line a metric.
std::string metricSeriesText(const std::vector<MetricSeries> &metrics);

} // namespace forkpoint
