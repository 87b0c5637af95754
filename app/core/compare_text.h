// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <string>

namespace forkpoint {

/// What `compare` prints for people: verdict first, then where, the table of classes, the steps,
/// the largest differences, what was not compared, and the findings. Long lists are cut with their
/// count; --json has all of it.
std::string compareText(const RunComparison &comparison);

} // namespace forkpoint
