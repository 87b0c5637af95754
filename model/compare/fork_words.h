// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of the place where two series part, beside the divergence itself.
#pragma once

#include "model/compare/run_comparison.h"

#include <set>
#include <string>
#include <vector>

namespace forkpoint {

/// That a step between the last equal one and the first that differs is open; empty where none is.
std::string openBetween(const FirstDivergence &divergence, const std::vector<StepMark> &steps);

/// Of runs that part at divergence.step and are `equalAgain` later (not empty, ascending): a fork that lasts,
/// if there is one, lies after that. `unequal`: all steps that differ.
std::string metAgain(const FirstDivergence &divergence, const std::vector<Step> &equalAgain,
                     const std::set<Step> &unequal);

} // namespace forkpoint
