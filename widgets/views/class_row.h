// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"
#include "widgets/theme.h"
#include "widgets/views/styled_text.h"

#include <vector>

namespace forkpoint {

/// The truth table that users read first: each class of state, equal, different or unknown. The name
/// of a class is a link, "class:NAME" to its tensors and values in `shown`, "place:STEP:STAGE" to the
/// first records that say so. In brief, classes of which the same is said stand together.
std::vector<StyledText::Segment> classRow(const RunComparison &comparison,
                                          const CheckpointComparison &shown, bool brief,
                                          const Theme &theme);

} // namespace forkpoint
