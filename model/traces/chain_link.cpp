// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/chain_link.h"

#include <algorithm>

namespace forkpoint {

namespace {

int weightOf(LinkStatus status)
{
    switch (status) {
    case LinkStatus::Different: return 3;
    case LinkStatus::Undecided: return 2;
    case LinkStatus::Equal: return 1;
    case LinkStatus::NotRecorded: break;
    }
    return 0;
}

} // namespace

std::string_view toString(LinkStatus status)
{
    switch (status) {
    case LinkStatus::Equal: return "equal";
    case LinkStatus::Different: return "different";
    case LinkStatus::NotRecorded: return "not-recorded";
    case LinkStatus::Undecided: return "undecided";
    }
    return "undecided";
}

void addLink(ChainLink &sum, const ChainLink &link)
{
    sum.compared += link.compared;
    sum.different += link.different;
    if (weightOf(link.status) > weightOf(sum.status)) {
        sum.status = link.status;
        sum.strength = link.strength;
    } else if (link.status == sum.status) {
        // Of equality the weakest, of a difference the strongest: each says what the sum may claim.
        sum.strength = link.status == LinkStatus::Different ? std::max(sum.strength, link.strength)
                                                            : std::min(sum.strength, link.strength);
    }
}

void LinkSum::add(const EvidenceSum &evidence, std::uint64_t oneSided)
{
    m_compared += evidence.compared + oneSided;
    m_different += evidence.different + oneSided;
    m_unknown += evidence.nothing + evidence.notComparable;
    if (evidence.compared > evidence.different)
        m_weakestEqual = std::min(m_weakestEqual, evidence.weakestEqual);
    m_strongestDifferent = std::max(m_strongestDifferent, evidence.strongestDifferent);
    if (oneSided > 0)
        m_strongestDifferent = std::max(m_strongestDifferent, Strength::Metadata);
}

void LinkSum::add(bool equal, Strength strength)
{
    ++m_compared;
    if (equal) {
        m_weakestEqual = std::min(m_weakestEqual, strength);
        return;
    }
    ++m_different;
    m_strongestDifferent = std::max(m_strongestDifferent, strength);
}

LinkStatus LinkSum::status() const
{
    if (m_different > 0)
        return LinkStatus::Different;
    if (m_compared == 0)
        return m_unknown > 0 ? LinkStatus::Undecided : LinkStatus::NotRecorded;
    return m_unknown == 0 && provesEquality(m_weakestEqual) ? LinkStatus::Equal
                                                            : LinkStatus::Undecided;
}

ChainLink LinkSum::link(std::optional<std::int64_t> step, std::string stage) const
{
    ChainLink link{step, std::move(stage), status(), m_compared, m_different, Strength::None};
    if (link.status == LinkStatus::Different)
        link.strength = m_strongestDifferent;
    else if (m_compared > 0)
        link.strength = m_weakestEqual;
    return link;
}

} // namespace forkpoint
