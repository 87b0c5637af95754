// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/pairing/rank_states.h"

namespace forkpoint {

/// Compares the values that pairing brought together. Unless `strictValues`, numbers of equal value
/// are identical whatever their type (1 and 1.0), as writers of different versions differ in it.
/// Floats that differ may be within the tolerance; everything else is compared exactly. `ranks`: of
/// these two catalogues.
std::vector<ValueRow> compareValues(const Catalog &a, const Catalog &b,
                                    const std::vector<ValuePair> &pairs, const RankStates &ranks,
                                    bool strictValues, const Tolerance &tolerance);

/// Whether a tolerance has a say: both are numbers, one of them a float. Integers (counters, seeds)
/// and lists that are folded into a digest are compared exactly.
bool toleranceApplies(const Value &a, const Value &b);

} // namespace forkpoint
