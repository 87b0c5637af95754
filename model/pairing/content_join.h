// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"

namespace forkpoint {

/// Fewer elements never join.
inline constexpr Index FewestJoinedElements = 16;

struct JoinedRows
{
    std::size_t pairs = 0; ///< how many rows of A took in one of B
};

/// Brings together rows of one side only whose tensor fingerprints (dtype, shape, bytes) are equal
/// and unique among the unpaired of both sides. The row of A becomes a pair, Identical and paired
/// by content; the row of B goes. Tensors of fewer than 16 elements never join: that two counters
/// are both 3 says nothing about who they are. Their rows get that as their reason.
JoinedRows joinByContent(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b);

} // namespace forkpoint
