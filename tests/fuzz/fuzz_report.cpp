// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/report_reader.h"
#include "model/report/report_csv.h"
#include "model/report/report_document.h"
#include "model/report/report_html.h"
#include "model/report/report_markdown.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto report = forkpoint::readReport({reinterpret_cast<const char *>(data), size});
    if (!report.ok())
        return 0;
    const auto document = forkpoint::makeReport(report->comparison, report->options);
    (void)forkpoint::reportHtml(document);
    (void)forkpoint::reportMarkdown(document);
    (void)forkpoint::reportCsv(report->comparison);
    (void)forkpoint::reportJson(report->comparison, report->options);
    return 0;
}
