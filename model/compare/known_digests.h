// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/diagnostic.h"
#include "model/digest.h"
#include "model/tensor_source.h"

#include <optional>
#include <utility>
#include <vector>

namespace forkpoint {

/// Content digests remembered from an earlier reading of files that are still in the very same
/// state. Used by one thread.
class KnownDigests
{
public:
    virtual ~KnownDigests() = default;

    virtual std::optional<Digest128> find(const TensorSource &source, TensorIndex tensor) = 0;
    /// Remembers what was read of `source`, after its unchanged() said so. Where something else was
    /// known of the same state, a warning says so and the new digest stands.
    virtual Diagnostics learn(const TensorSource &source,
                              const std::vector<std::pair<TensorIndex, Digest128>> &contents) = 0;

protected:
    KnownDigests() = default;
};

} // namespace forkpoint
