// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/comparison.h"

#include <vector>

namespace forkpoint {

/// Of a tensor whose copies differ between the ranks of one run (the finding "replicas-differ" of its
/// catalogue) one copy is compared. That it is equal to the other side's says nothing of the others:
/// such rows are not compared, with the finding as their reason. Where it differs, the row differs.
void doubtUnlikeReplicas(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b);

} // namespace forkpoint
