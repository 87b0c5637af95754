// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/hash_set.h"
#include "model/traces/record_form.h"
#include "model/traces/trace_certificate.h"
#include "model/traces/trace_filter.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace forkpoint {

/// The records of one rank and iteration, in order, from all their segments. Calls that the file
/// does not number are numbered here; a second record of one identity is told and left out. What the
/// filter does not take is certified and counted, and no more.
class TraceFeed
{
public:
    /// `segments`: of that stream, in their order. `filter`: nullptr takes all.
    TraceFeed(const Trace &trace, std::size_t stream, const std::vector<std::size_t> &segments,
              const TraceFilter *filter);

    Result<std::optional<TraceRecord>> next();
    /// The same, by its form where it has one; false at the end.
    Result<bool> next(FoundRecord &into);
    /// Whether all that is left is in memory already. Opens what comes next; an error of that is told by next().
    bool isInMemory();
    std::uint64_t duplicates() const { return m_duplicates; }
    std::uint64_t excluded() const { return m_excluded; }
    const TraceCertificate &certificate() const { return m_certificate; }
    Diagnostics takeDiagnostics();

private:
    Status open();
    bool takes(FoundRecord &found);
    /// `like`: it, or the record of its form.
    bool isDuplicate(const TraceRecord &like, std::uint64_t keyHash, const TracePlace &place,
                     std::uint64_t &call);

    const Trace &m_trace;
    const TraceFilter *m_filter;
    std::size_t m_stream;
    std::vector<std::size_t> m_segments; ///< still to be read, the next one last
    std::unique_ptr<TraceCursor> m_cursor;
    FormedCursor *m_forms = nullptr;                          ///< the cursor, where it is one
    std::unordered_map<std::uint64_t, std::uint64_t> m_calls; ///< by the identity of call 0
    HashSet m_identities;
    std::uint64_t m_duplicates = 0, m_excluded = 0;
    TraceCertificate m_certificate;
    Diagnostics m_diagnostics;
};

} // namespace forkpoint
