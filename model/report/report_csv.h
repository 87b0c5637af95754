// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <string>
#include <string_view>

namespace forkpoint {

/// The first line of every such table.
std::string_view reportCsvHeader();

/// All rows of a report as one table (RFC 4180, lines end with LF): the verdict, steps, tensors,
/// values, metrics, findings and diagnostics, told apart by the first column. Columns have the names
/// of the JSON document. A text that a spreadsheet would take for a formula begins with \xNN.
std::string reportCsv(const RunComparison &comparison);

} // namespace forkpoint
