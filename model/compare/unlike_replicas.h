// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/compare/comparison.h"

#include <string_view>
#include <vector>

namespace forkpoint {

/// What the finding "replicas-differ" of its catalogue says of that tensor; empty where there is none, or
/// where the copies are listed as tensors of their own.
std::string_view unlikeReplicasOf(const TensorRef &tensor, const Catalog &catalog);

/// What all such findings say of it, one of each part whose copies differ.
std::vector<std::string_view> unlikePartsOf(const TensorRef &tensor, const Catalog &catalog);

/// Whether such a text names `holder` among those who hold a part: "NAME: …: rank 0; rank 1 | rank 2".
bool namesHolder(std::string_view finding, std::string_view holder);

/// Of a tensor whose copies differ between the ranks of one run (the finding "replicas-differ" of its
/// catalogue) one copy is compared. That it is equal to the other side's says nothing of the others:
/// such rows are not compared, with the finding as their reason. Where it differs, the row differs.
void doubtUnlikeReplicas(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b);

} // namespace forkpoint
