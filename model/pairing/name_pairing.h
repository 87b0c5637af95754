// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pairing/pairing.h"
#include "model/pairing/parameter_names.h"

namespace forkpoint {

/// What the tensors of a catalogue are by name, those of numbered optimizer state by the parameter
/// that they belong to, where that is clear.
std::vector<ParameterName> parameterNamesOf(const Catalog &catalog);

/// Pairs what met nobody and says the same in the words of two frameworks, or without the keys that
/// wrappers add, once on each side and of one class. The pair takes A's name.
void pairByMeaning(std::vector<TensorPair> &pairs, const Catalog &a, const Catalog &b);

} // namespace forkpoint
