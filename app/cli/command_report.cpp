// SPDX-License-Identifier: GPL-3.0-or-later
// The command that reads a report back and writes it in other formats.
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/core/compare_text.h"
#include "app/core/report_file.h"
#include "loaders/results/report_reader.h"
#include "loaders/storage/file_source.h"

namespace forkpoint {

namespace {

Result<RecordedReport> readReportFile(const std::string &path)
{
    FP_TRY(const auto source, FileSource::open(path, path));
    return readReport(*source);
}

} // namespace

int runReport(const Options &options)
{
    const auto report = readReportFile(options.pathA);
    if (!report) {
        printError(report.error());
        if (options.json)
            writeOutput(options, refusalDocument("compare", report.error().message()));
        return 2;
    }
    bool written = true;
    for (const std::string &file : options.reports) {
        if (const auto files = writeReport(file, report->comparison, report->options); !files) {
            printError(files.error());
            written = false;
        }
    }
    const std::string text = options.json ? reportJson(report->comparison, report->options)
                                          : compareText(report->comparison);
    return writeOutput(options, text) && written ? 0 : 2;
}

} // namespace forkpoint
