// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_table.h"
#include "loaders/metrics/record_log.h"

#include <string>

namespace forkpoint {

/// Tells of what was damaged in a log of records: a torn tail as a mark, the rest as errors. `file`
/// names the one of several that the table is made of.
void describeDamage(const RecordLog &log, MetricsTable &table, const std::string &file);

} // namespace forkpoint
