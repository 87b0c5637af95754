// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace forkpoint {

/// Which ranks are in one process group, of a trace that says of each rank how large its group is and
/// which member of it the rank is, and no more. Process grids are laid out regularly: the n members of
/// a group are a fixed stride apart, and member number (rank / stride) % n. Strides that contradict no
/// rank are the layouts that are possible; what is said holds for all of them.
class GroupLayout
{
public:
    /// `number`: from 0, below `size`.
    void add(std::int64_t rank, std::uint64_t size, std::uint64_t number);

    enum class Tie {
        Apart,  ///< by every possible layout
        Open,   ///< in one group by some; or no layout is possible, or too many are
        Joined, ///< in one group by every possible layout
    };
    /// Of two ranks that were added.
    Tie tie(std::int64_t rank, std::int64_t other) const;
    /// Whether every member of the group of a rank that was added was added, by every possible layout.
    bool isWhole(std::int64_t rank) const;

private:
    /// Every stride lays such groups out, and all alike.
    bool isOfOne() const { return m_size == 1 && !m_contradicts; }
    bool fits(std::uint64_t stride) const;
    bool isJoined(std::uint64_t stride, std::int64_t rank, std::int64_t other) const;
    const std::vector<std::uint64_t> &strides() const;

    std::map<std::int64_t, std::uint64_t> m_numbers; ///< by rank
    std::uint64_t m_size = 0;
    bool m_contradicts = false;
    mutable std::optional<std::vector<std::uint64_t>>
        m_strides; ///< that are possible; once asked for
};

} // namespace forkpoint
