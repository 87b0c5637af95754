// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/state_class.h"
#include "model/traces/causal_chain.h"

#include <map>

namespace forkpoint {

struct RunComparison;

/// What the causal chain says of each class of state: the links of its stages as one, the first of
/// them naming the stage. Of the step where the runs part, where one is known, else of all steps.
/// Classes of which nothing was recorded are not there; neither is Unknown, which is no state.
std::map<StateClass, ChainLink> classEvidence(const RunComparison &comparison);

} // namespace forkpoint
