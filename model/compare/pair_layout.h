// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_reader.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// One part of a tensor as a side stores it.
struct LayoutPart
{
    Box box;           ///< in the logical tensor; of a flat range in one dimension
    std::string owner; ///< "rank 3", "rank 3 and 2 copies"; empty where no rank is known
    std::string file;
    Index elements = 0;
    std::optional<Index> different; ///< elements that differ from the other side's, once counted
};

/// How one side cuts a tensor over its ranks.
struct SideLayout
{
    Shape shape; ///< of which the boxes are parts; flat where the parts are flat ranges
    std::vector<LayoutPart> parts;
    bool cut = false; ///< there are more parts than are listed
};

/// Which rank holds what of a pair, and where it differs.
struct PairLayout
{
    SideLayout a, b;
    /// Why `different` is missing: unlike shapes, a read that failed; of single parts that are equal,
    /// that copies of them within one run are not.
    std::string notCounted;
};

/// Reads both tensors once, to count differences; without a partner a side is only listed.
PairLayout pairLayout(const TensorPairRef &pair, std::stop_token stop);

} // namespace forkpoint
