// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/metrics/metric_comparison.h"
#include "model/traces/causal_chain.h"

#include <optional>
#include <vector>

namespace forkpoint {

struct FirstDivergence;

/// The metrics that were logged of a link's stage and step, if nothing else is in the link.
std::vector<std::string> loggedAlone(const ChainLink &link,
                                     const std::vector<MetricComparison> &metrics);

/// Rule M28: what was falsified stays in the report, with its proof. Links of the chain before the
/// divergence that are equal by evidence that may say so: the difference did not begin there. A
/// link of the divergence's own step counts only where the causal order places both. Nothing where
/// no link is proven. A link of logged numbers alone is called by these: an equal learning rate says
/// nothing of the rest of the scheduler.
std::optional<Finding> ruledOutStages(const std::vector<ChainLink> &chain,
                                      const FirstDivergence &divergence,
                                      const std::vector<MetricComparison> &metrics);

/// Rule M28 for operations: those at which a rank first differs and which are not to blame, since
/// they cannot vary (M13) or a peer brought the difference into the collective (M11).
std::vector<Finding> ruledOutOperations(const TraceComparison &trace);

} // namespace forkpoint
