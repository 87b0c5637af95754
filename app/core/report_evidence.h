// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"
#include "model/report/report_evidence.h"
#include "model/run.h"

#include <memory>

namespace forkpoint {

/// What a report of these two runs keeps of them. Null where that is nothing.
std::shared_ptr<const ReportEvidence> reportEvidence(const Run &a, const Run &b,
                                                     const RunComparison &comparison);

} // namespace forkpoint
