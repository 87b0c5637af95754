// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace forkpoint {

/// A stretch of bytes that were held against others.
struct UnlikeBlock
{
    std::size_t first = 0, size = 0;
};

/// The first block of 1 MiB in which `read` gives other bytes than `bytes`; nothing where it gives
/// the same throughout. `read(first, out)` fills all of `out` from `first` on; its error ends the look.
/// Holds one block, whatever there is to compare.
template <class Read>
Result<std::optional<UnlikeBlock>> firstUnlikeBlock(ByteView bytes, const Read &read)
{
    constexpr std::size_t BlockBytes = std::size_t(1) << 20;
    std::vector<std::byte> other;
    for (std::size_t done = 0; done < bytes.size(); done += other.size()) {
        other.resize(std::min(BlockBytes, bytes.size() - done));
        FP_CHECK(read(done, MutableByteView(other)));
        if (std::memcmp(other.data(), bytes.data() + done, other.size()) != 0)
            return std::optional(UnlikeBlock{done, other.size()});
    }
    return std::optional<UnlikeBlock>();
}

} // namespace forkpoint
