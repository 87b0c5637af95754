// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/byte_source.h"

#include <stop_token>
#include <string_view>

namespace forkpoint {

/// CSV with a header row (RFC 4180 quoting, no line breaks inside fields), as Lightning's CSVLogger
/// and csv.DictWriter write. The step column is named as in JSON Lines; every other cell that is a
/// number is a point, true and false as 1 and 0. Empty cells are no points (CSVLogger writes sparse
/// rows), texts are named. Numbers are read to the nearest float64.
///
/// Where the file ends without a line break nobody can tell whether its last cell is whole, unless
/// that ends in a quote: the cell is left out, or the row if it is the step, and a note says so. A
/// complete file of a writer that does not end its last line loses that one number.
Status readCsvMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop);

/// Whether a first line is a header of such a file: at least two fields, one of them a step.
bool isCsvMetricsHeader(std::string_view line);

} // namespace forkpoint
