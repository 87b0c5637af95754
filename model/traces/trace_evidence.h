// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_record.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// What two observations of one thing prove about its value.
enum class Evidence : std::uint8_t {
    Nothing,       ///< neither side tells the value (rule M15): not compared
    Equal,         ///< as far as the digest goes
    Different,     ///< values, shapes or element types differ
    NotComparable, ///< digests of two kinds, or one side alone tells the value
};

/// How many of each kind: one for every record that is compared, so without memory of its own.
/// `Last`: the last of its kinds.
template <class Kind, Kind Last>
class CountsByKind
{
public:
    void add(Kind kind, std::uint64_t count)
    {
        m_counts[std::size_t(kind)] += count;
        m_named |= 1u << unsigned(kind);
    }
    void add(const CountsByKind &other, std::uint64_t times = 1)
    {
        for (std::uint32_t rest = other.m_named; rest != 0; rest &= rest - 1) {
            const auto kind = std::size_t(std::countr_zero(rest));
            m_counts[kind] += times * other.m_counts[kind];
        }
        m_named |= other.m_named;
    }
    /// Those that were added, were it none of them, in the order of the kinds.
    std::vector<std::pair<Kind, std::uint64_t>> list() const
    {
        std::vector<std::pair<Kind, std::uint64_t>> found;
        for (std::size_t kind = 0; kind < m_counts.size(); ++kind) {
            if ((m_named >> kind & 1u) != 0)
                found.emplace_back(Kind(kind), m_counts[kind]);
        }
        return found;
    }

private:
    std::array<std::uint64_t, std::size_t(Last) + 1> m_counts{};
    std::uint32_t m_named = 0; ///< a bit for each
};

/// Some observations of one record against their partners.
struct EvidenceSum
{
    Evidence evidence = Evidence::Nothing; ///< Different over NotComparable over Equal over Nothing
    std::uint64_t compared = 0, different = 0, nothing = 0, notComparable = 0;
    Strength weakestEqual = Strength::Bytes;
    Strength strongestDifferent = Strength::None;
    std::optional<int> fewestBits; ///< of the equal XOR digests
    bool layoutDiffers = false;    ///< shape or element type
    bool metadataDiffers = false;  ///< device, stride, requires_grad: no value (rule M17)
    CountsByKind<DigestKind, DigestKind::Value> byKind; ///< of those compared
    CountsByKind<Absence, Absence::Metadata> absences;

    void add(const EvidenceSum &other, std::uint64_t times = 1); ///< so many of it
};

/// Digests are compared together with shape, type and count, never alone (rule M16): where one side
/// alone states them equal digests are not comparable, where neither does they prove nothing equal.
/// Equal absences are no match (M15); NaN of both sides is no evidence as a norm, statistic or printed
/// number, and NaN of one side is a difference. Printed decimals are intervals; of whole values 1 and
/// 1.0 are one number.
EvidenceSum compareObservations(std::span<const Observation> a, std::span<const Observation> b);

/// Why it does not say that everything is equal, where nothing differs: a clause; empty where it does.
std::string doubtOf(const EvidenceSum &sum);

/// Of as many tensors whose value neither side tells, for that reason.
EvidenceSum noEvidence(std::uint64_t tensors, Absence why);

/// Inputs and outputs of two records that met.
struct RecordEvidence
{
    EvidenceSum inputs, outputs;  ///< fields are among the outputs
    bool outputsTooEarly = false; ///< one side's were taken before they were there: no evidence
    EvidenceSum all() const;
};

/// The values of events, as observations that are known to the last bit.
std::vector<Observation> fieldsOf(const TraceRecord &record);

RecordEvidence compareRecords(const TraceRecord &a, const TraceRecord &b);

} // namespace forkpoint
