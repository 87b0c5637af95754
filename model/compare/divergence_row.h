// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"

namespace forkpoint {

/// The tensor of which the first divergence speaks: the one that bears its name and is of its stage,
/// else the one that a trace kept of that record (model/traces/kept_path.h says how it is called).
/// Nothing decides that a report does not keep, so that one that is read back says the same. Null where there is none, as of a logged number.
const TensorRow *rowOfDivergence(const std::vector<TensorRow> &rows, const FirstDivergence &first);

} // namespace forkpoint
