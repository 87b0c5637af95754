// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run_comparison.h"

#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// What a report needs beside the comparison itself.
struct ReportOptions
{
    bool histograms = false; ///< --full
    /// --environment: pairs written under "environment"; empty leaves the member out.
    std::vector<std::pair<std::string, std::string>> environment;
};

/// The document "forkpoint.report/1": a pure function of its arguments, the same bytes always.
std::string reportJson(const RunComparison &comparison, const ReportOptions &options);

} // namespace forkpoint
