// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run_comparison.h"

#include <string>

namespace forkpoint {

/// What a report needs beside the comparison itself.
struct ReportOptions
{
    bool histograms = false; ///< --full
};

/// The document "forkpoint.report/1": a pure function of its arguments, the same bytes always.
std::string reportJson(const RunComparison &comparison, const ReportOptions &options);

} // namespace forkpoint
