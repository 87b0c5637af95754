// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_files.h"
#include "loaders/metrics/metrics_table.h"

namespace forkpoint {

/// Adds what one table holds. A metric that is there already, as exactly, and nowhere surely another
/// number, is joined: of a step that both have, the file counts that begins later. Otherwise the more
/// exact series stays, then the longer one, and steps that only the other has are told as a gap.
void mergeMetrics(const std::string &format, MetricsTable &table, FoundMetrics &into);

} // namespace forkpoint
