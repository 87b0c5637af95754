// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report_document.h"

#include <string>

namespace forkpoint {

/// The report as Markdown with GitHub's tables, for an issue or a merge request. Plots are told in a
/// sentence each; nothing that a file says becomes a link, a mention or an element.
std::string reportMarkdown(const ReportDocument &document);

} // namespace forkpoint
