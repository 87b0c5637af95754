// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>

namespace forkpoint {

/// When to hand out an unfinished result: often enough to be alive, and so seldom that copying a
/// catalogue of a million rows costs a tenth of the time at most.
class SnapshotClock
{
public:
    bool due() const { return std::chrono::steady_clock::now() >= m_next; }

    /// Calls `take`, measures it, and sets the next time.
    template <class Take>
    auto timed(Take take)
    {
        const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
        auto taken = take();
        const std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now();
        m_next = end
            + std::max<std::chrono::steady_clock::duration>(std::chrono::milliseconds(100),
                                                            10 * (end - start));
        return taken;
    }

private:
    std::chrono::steady_clock::time_point m_next{}; ///< the first one at once
};

} // namespace forkpoint
