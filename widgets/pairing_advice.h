// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What a rename rule would do to the tensors that met nobody.
struct RenamePreview
{
    std::size_t matches = 0;                                   ///< pairs that would meet
    std::size_t renamed = 0;                                   ///< names that would change
    std::vector<std::pair<std::string, std::string>> examples; ///< first ones that would meet: A, B
};

/// Applies `rules` in order to the unpaired names of both sides, as a comparison would.
RenamePreview previewRenames(const CheckpointComparison &comparison,
                             const std::vector<RenameRule> &rules);

/// The one rule that takes most unpaired names of A to those of B, where names share their last
/// parts: what stands before is replaced. As --rename takes it: "s/^module.//".
std::optional<std::string> likelyRename(const CheckpointComparison &comparison);

} // namespace forkpoint
