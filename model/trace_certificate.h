// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// Rule M20, for the records of one rank and iteration of one side: whether they are whole, as far
/// as their dialect has a proof of that. What fails makes the side incomplete.
class TraceCertificate
{
public:
    explicit TraceCertificate(SequenceRule rule) : m_rule(rule) {}

    void see(const TraceRecord &record);
    /// What is wrong, one clause each; after the last record.
    std::vector<std::string> problems() const;

private:
    void checkSequence(const TraceRecord &record);

    SequenceRule m_rule;
    std::optional<std::uint64_t> m_last; ///< sequence
    std::uint64_t m_unordered = 0;
    std::uint64_t m_begins = 0, m_ends = 0, m_runtimes = 0, m_failures = 0, m_truncations = 0;
    bool m_pending = false;
    std::map<std::string, std::int64_t> m_open; ///< collectives begun less ended
};

} // namespace forkpoint
