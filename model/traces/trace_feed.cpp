// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_feed.h"

#include "model/traces/trace_alignment.h"

#include <utility>

namespace forkpoint {

namespace {

/// Identities remembered for the search of duplicates and for the numbers of calls.
constexpr std::size_t MostIdentities = 4'000'000;

} // namespace

TraceFeed::TraceFeed(const Trace &trace, std::size_t stream,
                     const std::vector<std::size_t> &segments, const TraceFilter *filter)
    : m_trace(trace),
      m_filter(filter && filter->takesAll() ? nullptr : filter),
      m_stream(stream),
      m_segments(segments.rbegin(), segments.rend()),
      m_certificate(trace.sequenceRule())
{
}

Status TraceFeed::open()
{
    FP_TRY(m_cursor, m_trace.open(m_stream, m_segments.back()));
    m_forms = dynamic_cast<FormedCursor *>(m_cursor.get());
    m_segments.pop_back();
    return {};
}

bool TraceFeed::isInMemory()
{
    const bool isOpen = m_cursor || (!m_segments.empty() && open().ok());
    return isOpen && m_segments.empty() && m_forms && m_forms->isInMemory();
}

Result<std::optional<TraceRecord>> TraceFeed::next()
{
    FoundRecord found;
    FP_TRY(const bool isFound, next(found));
    return isFound ? std::optional(found.take()) : std::nullopt;
}

Result<bool> TraceFeed::next(FoundRecord &into)
{
    for (;;) {
        if (!m_cursor) {
            if (m_segments.empty())
                return false;
            FP_CHECK(open());
        }
        FP_TRY(const bool isFound, readNext(*m_cursor, m_forms, into));
        if (!isFound) {
            m_cursor.reset();
            m_forms = nullptr;
            continue;
        }
        if (takes(into))
            return true;
    }
}

bool TraceFeed::takes(FoundRecord &found)
{
    const RecordForm *const form = found.formed.form;
    const bool isByForm = form && !m_filter && TraceCertificate::needsNumberAlone(form->record);
    if (isByForm) {
        m_certificate.seeNumber(found.formed.sequence);
        return !isDuplicate(form->record, form->keyHash, found.formed.place, found.formed.call);
    }
    if (form) {
        found.whole = toRecord(found.formed);
        found.formed.form = nullptr;
    }
    TraceRecord &record = *found.whole;
    m_certificate.see(record);
    if (isDuplicate(record, hashOfKey(record.key), record.place, record.call))
        return false;
    if (!m_filter || m_filter->takes(record))
        return true;
    ++m_excluded;
    return false;
}

bool TraceFeed::isDuplicate(const TraceRecord &like, std::uint64_t keyHash, const TracePlace &place,
                            std::uint64_t &call)
{
    if (!like.callIsStated) {
        const std::uint64_t key = identityWith(keyHash, 0);
        if (m_calls.size() < MostIdentities || m_calls.count(key) > 0)
            call = m_calls[key]++;
        return false;
    }
    if (m_identities.size() >= MostIdentities || m_identities.insert(identityWith(keyHash, call)))
        return false;
    if (++m_duplicates == 1) {
        m_diagnostics.push_back(
            {Severity::Warning, "duplicate-identity", m_trace.files()[place.file], place.toText(),
             "has the identity of an earlier record ('" + like.name + "', number "
                 + std::to_string(call) + "); the earlier one counts"});
    }
    return true;
}

Diagnostics TraceFeed::takeDiagnostics()
{
    return std::exchange(m_diagnostics, {});
}

} // namespace forkpoint
