// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparison.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace forkpoint {

/// A module around the first record that differs, by what enters it and what leaves it.
struct ScopeJudgement
{
    std::string scope; ///< "layers.0.mlp"
    DivergenceClass divergenceClass = DivergenceClass::Unclassified;
    std::uint64_t entering = 0;         ///< tensors that were compared on their way in, all equal
    Strength strength = Strength::None; ///< the weakest of these
};

/// "layers.0/mlp[bwd]" as "layers", "layers.0", "layers.0.mlp": from the widest to the narrowest.
std::vector<std::string> scopesAround(std::string_view scope);

/// Rule M12: scopes nest, and the test of a record (M9) is the test of the module around it: it is
/// guilty when what enters it is equal and what leaves it is not. What a record of the module made
/// does not enter it. Iteration and phase are judged by the causal chain, operations by M9.
class ScopeLedger
{
public:
    explicit ScopeLedger(RecordName first)
        : m_first(std::move(first)),
          m_scopes(scopesAround(m_first.scope))
    {
    }

    /// Records that met, in the order of the walk; those after the first that differs are ignored.
    void see(const TraceRecord &a, const TraceRecord &b);
    /// From the narrowest to the widest module around that record; empty where it names none or was
    /// not met.
    const std::vector<ScopeJudgement> &judgements() const { return m_judgements; }

private:
    void enter(const TraceRecord &a, const TraceRecord &b, const std::string &scope);
    bool isMadeIn(const Observation &input, const std::string &scope) const;
    bool areMakersKnown(const TraceRecord &a, const TraceRecord &b) const;
    DivergenceClass classOf(const EvidenceSum &entering, const TraceRecord &a, const TraceRecord &b,
                            const std::string &scope) const;
    void judge(const TraceRecord &a, const TraceRecord &b);

    RecordName m_first;
    std::vector<std::string> m_scopes; ///< around it, from the widest to the narrowest
    bool m_done = false;
    std::map<std::string, EvidenceSum> m_entering;         ///< by scope
    std::unordered_map<std::string, std::string> m_makers; ///< value -> scope of its last producer
    std::vector<ScopeJudgement> m_judgements;
};

/// What the judgements say, for people; nothing where no module is guilty or a receiver.
std::optional<Finding> scopeFinding(const std::vector<ScopeJudgement> &judgements);

} // namespace forkpoint
