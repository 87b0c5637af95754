// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"

#include <cstddef>
#include <vector>

namespace forkpoint {

/// Of `findings` those that say what kind of difference there is ("NaN in B where A has none", "B equals
/// A rounded to BF16"), most telling first, at most `most`: who reads the verdict should not have to look for
/// them. Only exact ones.
std::vector<const Finding *> tellingFindings(const std::vector<Finding> &findings,
                                             std::size_t most);

} // namespace forkpoint
