// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

#include <string>

namespace forkpoint {

/// Tensors that differ beside the first and of which neither a recorded order nor a stage of the causal
/// chain says that they come behind it, as a sentence with a space in front: " Whether it is the first is
/// not known: ...". Empty where there are none, and where the first was chosen by recorded order.
std::string unorderedBeside(const CheckpointComparison &comparison, const FirstDivergence &first);

} // namespace forkpoint
