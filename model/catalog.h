// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/compare/finding.h"
#include "model/diagnostic.h"
#include "model/tensor_ref.h"
#include "model/value.h"

#include <string>
#include <vector>

namespace forkpoint {

/// Everything one opened checkpoint lists, immutable once finished. Tensors and values are sorted
/// by name (bytewise), so that two openings of one thing list it alike.
struct Catalog
{
    std::string format; ///< "safetensors", "torch", "npy", "npz", ...
    std::vector<TensorRef> tensors;
    std::vector<ValueRef> values;
    std::vector<std::string> files;      ///< by FileIndex, as errors name them
    std::vector<OwnerCoordinate> owners; ///< by OwnerIndex
    Diagnostics diagnostics;
    std::vector<Finding> findings; ///< what one file alone tells: a pickle that would run code
    /// False where something may exist that is not listed (a missing shard, a cut directory).
    bool complete = true;

    /// Derives unique display names from the paths, assigns classes that are still Unknown by the
    /// rules, fills elements/bytes, and sorts. Loaders call it once, last.
    void finish(const StateClassRules &rules, std::string_view separator = ".");

    /// Index of the tensor of that display name, or of nothing.
    std::optional<TensorIndex> findTensor(std::string_view name) const;
};

} // namespace forkpoint
