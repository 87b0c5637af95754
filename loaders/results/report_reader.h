// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/report/report_json.h"

#include <string_view>

namespace forkpoint {

/// What a report says of a comparison, as far as it says it: catalogue positions count the names of
/// a side, sums are their quotients, and there are no sources to read elements from.
struct RecordedReport
{
    RunComparison comparison;
    ReportOptions options;
};

/// Reads a document "forkpoint.report/1". What it says twice must agree: rows with their counts and
/// with the outcome. Writing it again gives the same bytes.
Result<RecordedReport> readReport(std::string_view json);
Result<RecordedReport> readReport(const ByteSource &source);

} // namespace forkpoint
