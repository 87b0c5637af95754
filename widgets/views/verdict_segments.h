// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/theme.h"
#include "widgets/view_context.h"
#include "widgets/views/styled_text.h"

#include <vector>

namespace forkpoint {

using VerdictSegments = std::vector<StyledText::Segment>;

/// Brief leaves out what a link leads to anyway: names of recipe differences, all but the first
/// sentence on where the runs part, a word for each class that is equal.
enum class Detail { Full, Brief };

struct VerdictText
{
    VerdictSegments sentence, classes; ///< no classes while there are none to tell of
    QColor stripe;
};

/// What the banner says: outcome, where it begins, recipe differences, proof and coverage, and the
/// classes; or why there is no comparison. Links are VerdictBanner's.
VerdictText verdictText(const ViewContext &context, Detail detail, const Theme &theme);

} // namespace forkpoint
