// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/report_evidence.h"

namespace forkpoint {

std::shared_ptr<const ReportEvidence> reportEvidence(const Run &a, const Run &b,
                                                     const RunComparison &comparison)
{
    auto evidence = std::make_shared<ReportEvidence>();
    if (comparison.verdict.outcome != Outcome::NotCompared)
        evidence->curves =
            curvesOf(a.metrics(), b.metrics(), comparison.metrics, evidence->curvesLeftOut);
    return evidence->isEmpty() ? nullptr : evidence;
}

} // namespace forkpoint
