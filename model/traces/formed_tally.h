// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_evidence.h"
#include "model/traces/trace_walk.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forkpoint {

/// Counts pairs of one form without making their records: whose digests are the same, or differ in the
/// same places, tell the same evidence, so that it is found once and then counted.
class FormedTally
{
public:
    /// So many pairs in a row, in the order of the first of each kind.
    struct Sum
    {
        const TraceRecord *like = nullptr; ///< one of them, but for its digests, numbers and place
        EvidenceSum one;                   ///< of each
        std::uint64_t pairs = 0;
        std::uint64_t artifacts = 0; ///< of rule M14, instead of pairs
    };
    struct Last
    {
        const RecordForm *form = nullptr;
        std::optional<std::int64_t> iteration;
        std::uint64_t call = 0;
    };

    enum class Use {
        Counted,
        Artifact, ///< counted as one (rule M14)
        Made,     ///< not counted: to be made, for what it is besides evidence
    };

    /// `mayDiffer`: a difference is to be counted, and no more.
    Use take(const TraceWalk::FormedEvent &event, bool mayDiffer);
    bool isEmpty() const { return m_touched.empty(); }
    /// The sums since the last call.
    std::vector<Sum> sums();
    /// The last pair of these that is equal.
    const Last &lastEqual() const { return m_lastEqual; }

private:
    struct Kind
    {
        std::uint64_t differing = 0; ///< a bit for each digest of the form
        Sum sum;
    };
    struct Known
    {
        bool isCountable = false, isArtifact = false, mayBeTooEarly = false;
        std::vector<Kind> kinds;
    };
    static constexpr std::size_t MostKinds = 64; ///< of a form; others are made

    Known &knownOf(const RecordForm &form);
    Kind *kindOf(Known &known, std::uint64_t differing, const TraceWalk::FormedEvent &event);

    std::unordered_map<const RecordForm *, Known> m_forms;
    std::vector<std::pair<Known *, std::size_t>> m_touched; ///< whose sums are not empty
    Last m_lastEqual;
};

} // namespace forkpoint
