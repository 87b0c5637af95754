// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
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
    /// Whether of records like that one the number alone counts, for seeNumber() instead of see().
    static bool needsNumberAlone(const TraceRecord &record);
    void seeNumber(std::optional<std::uint64_t> sequence);
    /// What is wrong, one clause each; after the last record.
    std::vector<std::string> problems() const;
    /// What lets values vary although nothing is missing, one clause each.
    const std::set<std::string> &doubts() const { return m_doubts; }
    /// Whether records of it are missing, by its own numbers and marks.
    bool lacksRecords() const;
    /// Whether a number stands at two records, one after the other: one of them may be a copy.
    bool repeatsNumbers() const { return m_repeats; }
    bool hasRuntime() const { return m_runtimes > 0; }
    /// Whether a mark says that the iteration ended, be it by an error.
    bool hasEnd() const { return m_ends + m_failures > 0; }

private:
    /// A recomputation of activations against the forward that it repeats (rule M15: whether the file
    /// says that they match means nothing where it has no digests to say it by).
    class Recomputations
    {
    public:
        void see(const TraceRecord &record);
        static bool concerns(const TraceRecord &record);
        std::uint64_t different() const { return m_different; }
        std::uint64_t unknown() const { return m_unknown; }
        /// More forwards waited than are remembered: what came after that is unknown.
        bool isFull() const { return m_isFull; }

    private:
        std::map<std::string, std::deque<std::string>> m_forward; ///< outputs, by checkpoint
        std::size_t m_waiting = 0, m_bytes = 0;
        bool m_isFull = false;
        std::uint64_t m_different = 0, m_unknown = 0;
    };

    void seeCollective(const TraceRecord &record);

    SequenceRule m_rule;
    std::optional<std::uint64_t> m_last; ///< sequence
    bool m_repeats = false;
    std::uint64_t m_unordered = 0;
    std::uint64_t m_begins = 0, m_ends = 0, m_runtimes = 0, m_failures = 0, m_truncations = 0;
    bool m_pending = false;
    std::map<std::string, std::int64_t> m_open; ///< collectives begun and not ended
    std::uint64_t m_unbegun = 0;                ///< ends without a begin
    std::uint64_t m_undigested = 0;             ///< ends with an output that tells no value
    Recomputations m_recomputations;
    std::set<std::string> m_doubts;
};

/// Rule M20, for a trace as a whole: ranks that lack one of these iterations although others have it,
/// and unlike levels of detail. One clause each.
std::vector<std::string> gridProblems(const Trace &trace, const std::set<std::int64_t> &iterations);
/// Settings of the process that let values vary, as far as the trace states them. One clause each.
std::set<std::string> settingDoubts(const Trace &trace);

} // namespace forkpoint
