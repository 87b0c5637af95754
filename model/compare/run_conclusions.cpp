// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/run_conclusions.h"

#include "model/metrics/metric_findings.h"
#include "model/traces/ruled_out.h"
#include "model/traces/snapshot_protocol.h"

#include <utility>

namespace forkpoint {

std::vector<Finding> runConclusions(const RunComparison &comparison)
{
    std::vector<Finding> findings;
    const auto &divergence = comparison.firstDivergence;
    if (divergence) {
        if (auto ruledOut = ruledOutStages(comparison.chain, *divergence, comparison.metrics))
            findings.push_back(std::move(*ruledOut));
        if (auto late = firstBitAgainstDigit(divergence->step, comparison.metrics))
            findings.push_back(std::move(*late));
    }
    if (comparison.trace) {
        for (Finding &finding : ruledOutOperations(*comparison.trace))
            findings.push_back(std::move(finding));
    }
    const bool isSnapshot = comparison.formatA.ends_with("megatron-state")
        && comparison.formatB.ends_with("megatron-state");
    if (isSnapshot) {
        for (Finding &finding : snapshotIndependence(comparison.shown))
            findings.push_back(std::move(finding));
        findings.push_back(snapshotScope(comparison.shown));
    }
    return findings;
}

} // namespace forkpoint
