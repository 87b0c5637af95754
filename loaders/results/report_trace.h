// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/json_fields.h"
#include "model/compare/run_comparison.h"

namespace forkpoint {

// Members of a recorded report about where two runs part, as report_json_trace wrote them.

/// The member "strength"; none where it is absent.
Strength strengthOf(const JsonFields &fields);
FirstDivergence divergenceOf(const JsonFields &fields, JsonProblem &problem);
ChainLink chainLinkOf(const JsonFields &fields);
RankSummary rankSummaryOf(const JsonFields &fields);
NextCapture nextCaptureOf(const JsonFields &fields);

} // namespace forkpoint
