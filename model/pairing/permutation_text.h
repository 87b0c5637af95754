// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pairing/row_permutation.h"

#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// What a form usually is, where the name says of what: "gate and up by shard in A, ...".
std::string permutationMeaning(const std::string &name, const PermutationForm &form, Index rows);

/// "B's rows are A's 0-3, 8-11, ...", of one group where the map repeats.
std::string permutationMapText(const std::vector<Index> &map, const PermutationForm &form,
                               std::string_view what);

} // namespace forkpoint
