// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/json_fields.h"
#include "model/compare/comparison.h"

#include <optional>
#include <string_view>

namespace forkpoint {

// Rows of a recorded report, as report_json wrote them.

/// `histograms` becomes true where the row has some.
TensorRow tensorRowOf(const JsonFields &fields, bool &histograms);
ValueRow valueRowOf(const JsonFields &fields);
StatusCounts countsOf(const JsonFields &fields);

/// Gives every item of a side its position among the names of that side, as its catalogue would.
void numberPositions(CheckpointComparison &comparison);

/// A whole number of at most four digits, with or without a sign.
std::optional<int> smallNumber(std::string_view text);

} // namespace forkpoint
