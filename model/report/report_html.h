// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report_document.h"

#include <string>
#include <string_view>

namespace forkpoint {

/// One page that needs nothing else: its style and plots inside, no script, no link that leaves it.
std::string reportHtml(const ReportDocument &document);

/// The style sheet of that page.
std::string_view reportStyle();

} // namespace forkpoint
