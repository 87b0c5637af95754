// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "widgets/view_context.h"

#include <QString>

#include <optional>

namespace forkpoint {

/// "82 of 118 differ, 3 on one side only", of a list, a class or a step.
QString differingText(const StatusCounts &counts, std::uint64_t total);
/// Of the tensors, or of the values: "82 of 118 differ · 2 expected · 5 shown (recipe only)".
QString countsText(const CheckpointComparison &comparison, bool values, const PairNotes &notes,
                   std::size_t shown, std::optional<StateClass> onlyClass);
/// Of one side alone: "5 of 118 shown, none compared".
QString listedText(const CheckpointComparison &listing, bool values, std::size_t shown);

/// "A", "A and B": the sides that could not be opened. Empty where none failed.
QString failedSidesText(const ViewContext &context);

} // namespace forkpoint
