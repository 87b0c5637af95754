// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/digest.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// What was counted of a tensor of floats when it was fingerprinted.
struct RecordedFacts
{
    std::uint64_t finite = 0, nan = 0, inf = 0; ///< parts, two of a complex element
    std::optional<double> rms;                  ///< of the finite ones, where there is one

    bool operator==(const RecordedFacts &) const = default;
};

/// What a fingerprint file has in place of a tensor's bytes.
struct RecordedDigests
{
    Digest128 content;
    /// The nodes of that level of the fingerprint tree (0: leaves), in order; none where the level
    /// has only one, which then is `content`.
    std::uint32_t level = 0;
    std::vector<Digest128> nodes;
    std::optional<RecordedFacts> facts;
};

} // namespace forkpoint
