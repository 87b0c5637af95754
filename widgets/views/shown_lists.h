// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/remark_list_model.h"
#include "widgets/view_context.h"

#include <vector>

namespace forkpoint {

/// Findings of the runs and of the selected step, each id and text once: certainty, text, where.
std::vector<Remark> shownFindings(const ViewContext &context);
/// Diagnostics of both sides, of the runs and of the selected step, each once: file, place, text.
std::vector<Remark> shownProblems(const ViewContext &context);

/// One side is open and the other is not: what is listed has not been compared.
bool isOneSideAlone(const ViewContext &context);

} // namespace forkpoint
