// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

struct ReportEvidence;

/// What was asked for, so that a reader can ask again.
struct ReportRequest
{
    std::string command;             ///< the command line that gives this result
    std::string elements;            ///< the one that shows the elements it speaks of, or empty
    std::vector<std::string> limits; ///< what it leaves out, or forgives: one sentence each

    bool empty() const { return command.empty() && limits.empty(); }
};

/// What a report needs beside the comparison itself.
struct ReportOptions
{
    bool histograms = false; ///< --full
    /// --environment: pairs written under "environment"; empty leaves the member out.
    std::vector<std::pair<std::string, std::string>> environment;
    ReportRequest request; ///< written under "request"; empty leaves the member out
    /// What a comparison itself does not keep of the two runs; null: nothing.
    std::shared_ptr<const ReportEvidence> evidence = {};
};

/// The document "forkpoint.report/1": a pure function of its arguments, the same bytes always.
std::string reportJson(const RunComparison &comparison, const ReportOptions &options);

} // namespace forkpoint
