// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report_json.h"
#include "model/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

enum class ReportFormat { Html, Json, Csv, Markdown };

/// By the suffix: .html, .json, .csv or .md. Anything else is a usage error.
Result<ReportFormat> reportFormatOf(std::string_view path);

/// The report as one text; the same for the same arguments, wherever it is made.
std::string reportText(ReportFormat format, const RunComparison &comparison,
                       const ReportOptions &options);

/// Writes the report that the suffix of `path` names and returns the files it wrote. Where tables of
/// an .html or .md report are cut, all rows go to the .csv file of the same name beside it; a file of
/// that name which is no such table is left alone, and that is an error.
Result<std::vector<std::string>>
writeReport(const std::string &path, const RunComparison &comparison, const ReportOptions &options);

} // namespace forkpoint
