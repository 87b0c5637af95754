// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"

namespace forkpoint {

/// What the verdict needs to know beside the rows.
struct ComparisonContext
{
    bool complete = true; ///< both catalogues list everything there is
    bool anyNameInCommon = true;
    bool toleranceAsked = false;
    bool partial = false;        ///< still running, or cancelled
    bool contextInScope = false; ///< the user named context classes with --scope
    bool changed = false;        ///< a file changed while it was read: what was read is no proof
    bool unread = false;         ///< whether one did could not be found out
};

/// The facts of the verdict, over the rows in scope; of one class only, where one is given.
VerdictFacts gatherFacts(const CheckpointComparison &comparison, const ComparisonContext &context,
                         std::optional<StateClass> only = std::nullopt);

/// Fills counts, by-class summaries and the verdict from the rows.
void summarise(CheckpointComparison &comparison, const ComparisonContext &context);

} // namespace forkpoint
