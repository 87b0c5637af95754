// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/sequence_gaps.h"

#include "model/format.h"

#include <algorithm>
#include <cstddef>

namespace forkpoint {

namespace {

/// Gaps that are remembered; the first few are told.
constexpr std::size_t MostGaps = 64;
/// Numbers of a gap that came late, and are remembered.
constexpr std::size_t MostKnown = 4096;

} // namespace

std::string SequenceGaps::words(const Gap &gap, std::string_view key)
{
    const std::string name(key);
    return "has " + name + " " + std::to_string(gap.last + 1) + ": "
        + counted(gap.missing, "record", "records") + " before it from " + name + " "
        + std::to_string(gap.first) + " on " + (gap.missing == 1 ? "is" : "are") + " missing";
}

void SequenceGaps::see(std::uint64_t number, const TracePlace &place)
{
    if (number >= m_next) {
        const std::uint64_t left = number - m_next;
        if (left > m_spare && m_gaps.size() < MostGaps)
            m_gaps.push_back({place, m_next, number - 1, left - m_spare, {}});
        m_spare = 0;
        m_next = number < UINT64_MAX ? number + 1 : number;
        return;
    }
    // It was in a gap, or two took one number: the one behind it may be left out, or the one before it.
    if (explain(number) || (number < UINT64_MAX && explain(number + 1))
        || (number > 0 && explain(number - 1)))
        std::erase_if(m_gaps, [](const Gap &gap) { return gap.missing == 0; });
    else if (number + 1 == m_next)
        ++m_spare;
}

/// Whether the number was missing until now.
bool SequenceGaps::explain(std::uint64_t number)
{
    const auto gap = std::find_if(m_gaps.begin(), m_gaps.end(), [&](const Gap &each) {
        return each.first <= number && number <= each.last;
    });
    if (gap == m_gaps.end() || gap->known.size() >= MostKnown || !gap->known.insert(number).second)
        return false;
    --gap->missing;
    return true;
}

} // namespace forkpoint
