// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/event_file_chains.h"
#include "loaders/metrics/metrics_files.h"
#include "loaders/metrics/metrics_table.h"

#include <string>
#include <vector>

namespace forkpoint {

/// Adds what one table holds. A metric that is there already, as exactly, and nowhere surely another
/// number, is joined: of a step that both have, the file counts that begins later. Otherwise the more
/// exact series stays, then the longer one, and steps that only the other has are told as a gap.
void mergeMetrics(const std::string &format, MetricsTable &table, FoundMetrics &into);

/// What processes logged that ran side by side, such as ranks, one table each.
struct TableBeside
{
    MetricsTable table;
    std::string label;
    EventFileChain::Telling telling;
};
/// No table goes on from another: a metric that several have becomes one of each, "NAME [LABEL]",
/// where the user named the files apart, or where they surely log other numbers. That is a gap if
/// nothing of their names can be met by another run's.
void mergeSideBySide(const std::string &format, std::vector<TableBeside> tables,
                     FoundMetrics &into);

} // namespace forkpoint
