// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"
#include "model/compare/comparison.h"
#include "model/compare/element_reader.h"
#include "model/report/report_json.h"
#include "model/step_plan.h"

#include <string>

namespace forkpoint {

/// All that decides what a comparison finds. Device, threads, index and rate do not.
struct CompareCommand
{
    std::string pathA, pathB;
    CompareOptions options;
    StepSelection steps;
    OpenOptions open;
};

/// "forkpoint-cli compare A B --scope weights".
std::string commandLine(const CompareCommand &command);
/// "forkpoint-cli elements A B --tensor w --order largest": of the step that the command names.
std::string elementsCommand(const CompareCommand &command, const std::string &tensor,
                            ElementOrder order);

/// What a report says of the request: the commands, and what it leaves out or forgives.
ReportRequest reportRequest(const CompareCommand &command, const RunComparison &comparison);

} // namespace forkpoint
