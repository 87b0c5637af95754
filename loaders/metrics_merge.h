// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics_files.h"
#include "loaders/metrics_table.h"

namespace forkpoint {

/// Adds what one table holds. Of a metric that is there already the more exact series stays, then
/// the longer one; one that goes on where the other ends is joined to it.
void mergeMetrics(const std::string &format, MetricsTable &table, FoundMetrics &into);

} // namespace forkpoint
