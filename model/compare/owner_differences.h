// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/element_reader.h"
#include "model/compare/finding.h"
#include "model/result.h"
#include "model/tensor_source.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// Differing elements of a pair, counted by the part in which they are stored.
struct OwnerDifferences
{
    /// By extent of each side's tensor, in its order. Of copies in several extents the first counts.
    std::vector<Index> a, b;
    Index different = 0;
};

/// One pass over both tensors in bounded memory. An error for unlike shapes and types, for elements
/// narrower than a byte, and for more parts than are worth looking at.
Result<OwnerDifferences> differencesByExtent(const TensorPairRef &pair, std::stop_token stop);

/// Where the first differing element of a measured row is stored; nothing where nothing differs.
std::shared_ptr<const ElementPlaces> firstPlacesOf(const TensorRow &row, const Catalog &a,
                                                   const Catalog &b);

/// Gives the rows of a short page the places of their elements, where some rank owns one.
void addPlaces(ElementPage &page, const TensorPairRef &pair);

/// "Only rank 3 differs": every differing element of every tensor lies in one rank's parts, although
/// other ranks hold parts too. Said only where it was seen for all of them; at most `budget` bytes
/// are read for it.
std::vector<Finding> ownerFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                   const TensorSource &b, std::uint64_t budget,
                                   std::stop_token stop);

} // namespace forkpoint
