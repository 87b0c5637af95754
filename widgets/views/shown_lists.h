// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <vector>

namespace forkpoint {

/// Findings of the runs and of the selected step, each id and text once.
std::vector<Finding> shownFindings(const ViewContext &context);
/// Diagnostics of both sides, of the runs and of the selected step, each once.
Diagnostics shownProblems(const ViewContext &context);

} // namespace forkpoint
