// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sequence_gaps.h"

#include <algorithm>
#include <cstddef>

namespace forkpoint {

namespace {

/// Gaps that are remembered; the first few are told.
constexpr std::size_t MostGaps = 64;

} // namespace

void SequenceGaps::see(std::uint64_t number, const TracePlace &place)
{
    if (number >= m_next) {
        const std::uint64_t left = number - m_next;
        if (left > m_spare && m_gaps.size() < MostGaps)
            m_gaps.push_back({place, m_next, number - 1, left - m_spare});
        m_spare = 0;
        m_next = number < UINT64_MAX ? number + 1 : number;
        return;
    }
    // It was in a gap, or two took one number: the one behind it may be left out, or the one before it.
    const auto late = std::find_if(m_gaps.rbegin(), m_gaps.rend(),
                                   [&](const Gap &gap) { return gap.first <= number; });
    if (late != m_gaps.rend() && number <= late->last + 1) {
        --late->missing;
        std::erase_if(m_gaps, [](const Gap &gap) { return gap.missing == 0; });
    } else if (number + 1 == m_next) {
        ++m_spare;
    }
}

} // namespace forkpoint
