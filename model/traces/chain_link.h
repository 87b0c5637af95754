// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/verdict.h"
#include "model/traces/trace_evidence.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

enum class LinkStatus : std::uint8_t {
    Equal,
    Different,
    NotRecorded, ///< a hole: nothing was recorded there on both sides
    Undecided,   ///< no difference seen, by evidence that may not say equal
};

std::string_view toString(LinkStatus status);

/// One link of the causal chain: a stage of one step, over everything known about both runs.
struct ChainLink
{
    std::optional<std::int64_t> step;
    std::string stage;
    LinkStatus status = LinkStatus::NotRecorded;
    std::uint64_t compared = 0, different = 0;
    Strength strength = Strength::None; ///< of equality the weakest, of a difference the strongest
};

/// Adds a link to one that stands for several: counts are summed, the most telling status stays (a
/// difference over what is not decided, that over equality, that over holes), with its strength.
void addLink(ChainLink &sum, const ChainLink &link);

/// Evidence of one link, added up: of a stage of a step, or of a rank or micro-batch in it.
class LinkSum
{
public:
    /// Of records that met; `oneSided`: of records without a partner, which differ.
    void add(const EvidenceSum &evidence, std::uint64_t oneSided = 0);
    void addUnknown(std::uint64_t count = 1) { m_unknown += count; }
    /// One item that was compared.
    void add(bool equal, Strength strength);

    ChainLink link(std::optional<std::int64_t> step, std::string stage) const;

private:
    LinkStatus status() const;

    std::uint64_t m_compared = 0, m_different = 0, m_unknown = 0;
    Strength m_weakestEqual = Strength::Bytes, m_strongestDifferent = Strength::None;
};

} // namespace forkpoint
