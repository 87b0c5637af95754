// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparison.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// The stage of a record whose dialect tells none: behind the links of the causal chain.
inline constexpr std::string_view UnknownStage = "unknown";

/// The links of the chain that two traces make, while their records are met.
class StageTable
{
public:
    /// A pair. Marks without a value of their own (a begin, a runtime) make no link.
    void add(const TraceRecord &record, const EvidenceSum &evidence);
    /// As many of its stage.
    void addOneSided(const RecordName &record, std::uint64_t count);
    /// On one side only, where the other may have lost them: nothing is known of them.
    void addLost(const RecordName &record, std::uint64_t count);

    /// An iteration that was not read to its end: more may belong to any of its stages.
    void addUnread(std::optional<std::int64_t> iteration);

    /// By iteration, then in causal order.
    std::vector<StageSummary> take();

private:
    StageSummary &of(std::optional<std::int64_t> iteration, const std::string &named);

    std::map<std::pair<std::optional<std::int64_t>, std::string>, StageSummary> m_stages;
};

} // namespace forkpoint
