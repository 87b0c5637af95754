// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace forkpoint {

/// A set of hashes in one piece of memory, at most half full: one is added for every record that is
/// compared.
class HashSet
{
public:
    /// Whether it was not there yet.
    bool insert(std::uint64_t hash)
    {
        if (hash == 0)
            return !std::exchange(m_hasZero, true);
        if (2 * (m_count + 1) > m_slots.size())
            grow();
        std::uint64_t &slot = m_slots[placeOf(hash)];
        if (slot == hash)
            return false;
        slot = hash;
        ++m_count;
        return true;
    }
    bool contains(std::uint64_t hash) const
    {
        if (hash == 0)
            return m_hasZero;
        return !m_slots.empty() && m_slots[placeOf(hash)] == hash;
    }
    std::size_t size() const { return m_count + (m_hasZero ? 1 : 0); }
    bool empty() const { return size() == 0; }

private:
    static constexpr std::size_t Smallest = 64;

    /// Where it is, or would be.
    std::size_t placeOf(std::uint64_t hash) const
    {
        const std::size_t mask = m_slots.size() - 1;
        std::size_t place = std::size_t((hash * 0x9E3779B97F4A7C15) >> 32) & mask;
        while (m_slots[place] != 0 && m_slots[place] != hash)
            place = (place + 1) & mask;
        return place;
    }
    void grow()
    {
        std::vector<std::uint64_t> old(std::max(Smallest, 2 * m_slots.size()), 0);
        old.swap(m_slots);
        for (const std::uint64_t hash : old) {
            if (hash != 0)
                m_slots[placeOf(hash)] = hash;
        }
    }

    std::vector<std::uint64_t> m_slots; ///< 0: free
    std::size_t m_count = 0;
    bool m_hasZero = false;
};

} // namespace forkpoint
