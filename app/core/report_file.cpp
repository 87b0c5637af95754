// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/report_file.h"

#include "app/core/output_file.h"
#include "model/report/report_csv.h"
#include "model/report/report_document.h"
#include "model/report/report_html.h"
#include "model/report/report_markdown.h"

#include <filesystem>
#include <fstream>

namespace forkpoint {

namespace {

constexpr std::pair<std::string_view, ReportFormat> Suffixes[] = {
    {".html", ReportFormat::Html},
    {".json", ReportFormat::Json},
    {".csv", ReportFormat::Csv},
    {".md", ReportFormat::Markdown},
};

/// Nothing, or a table that an earlier report left there.
bool mayReplace(const std::string &path)
{
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error)))
        return true;
    std::string head(reportCsvHeader().size(), '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), std::streamsize(head.size()));
    return file && head == reportCsvHeader();
}

Status writeTableBeside(const std::string &path, const RunComparison &comparison)
{
    if (!mayReplace(path))
        return Error{ErrorCode::Refused,
                     path,
                     {},
                     "expected no file or an earlier table of a report: the rows that the report "
                     "beside it leaves out belong here"};
    return writeTextFile(path, reportCsv(comparison));
}

} // namespace

Result<ReportFormat> reportFormatOf(std::string_view path)
{
    for (const auto &[suffix, format] : Suffixes) {
        if (path.ends_with(suffix))
            return format;
    }
    return Error{ErrorCode::Usage,
                 std::string(path),
                 {},
                 "a report is .html, .json, .csv or .md, by its suffix"};
}

std::string reportText(ReportFormat format, const RunComparison &comparison,
                       const ReportOptions &options)
{
    switch (format) {
    case ReportFormat::Html: return reportHtml(makeReport(comparison, options));
    case ReportFormat::Markdown: return reportMarkdown(makeReport(comparison, options));
    case ReportFormat::Csv: return reportCsv(comparison);
    case ReportFormat::Json: break;
    }
    return reportJson(comparison, options);
}

Result<std::vector<std::string>>
writeReport(const std::string &path, const RunComparison &comparison, const ReportOptions &options)
{
    FP_TRY(const ReportFormat format, reportFormatOf(path));
    std::vector<std::string> written;
    if (format == ReportFormat::Html || format == ReportFormat::Markdown) {
        const ReportDocument document = makeReport(comparison, options);
        if (document.isCut()) {
            // First, so that no report ever points at a table that is not there.
            const std::string table = path.substr(0, path.rfind('.')) + ".csv";
            FP_CHECK(writeTableBeside(table, comparison));
            written.push_back(table);
        }
        FP_CHECK(writeTextFile(
            path, format == ReportFormat::Html ? reportHtml(document) : reportMarkdown(document)));
    } else {
        FP_CHECK(writeTextFile(path, reportText(format, comparison, options)));
    }
    written.insert(written.begin(), path);
    return written;
}

} // namespace forkpoint
