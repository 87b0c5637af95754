// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace_certificate.h"

#include "model/format.h"

namespace forkpoint {

void TraceCertificate::checkSequence(const TraceRecord &record)
{
    if (m_rule == SequenceRule::None || !record.sequence)
        return;
    const bool isFirst = !m_last.has_value();
    const bool rises = isFirst || *record.sequence > *m_last;
    const bool hasGap =
        m_rule == SequenceRule::GapFree && *record.sequence != (isFirst ? 0 : *m_last + 1);
    m_unordered += !rises || hasGap ? 1u : 0u;
    m_last = record.sequence;
}

void TraceCertificate::see(const TraceRecord &record)
{
    checkSequence(record);
    switch (record.role) {
    case RecordRole::Runtime: ++m_runtimes; break;
    case RecordRole::IterationBegin: ++m_begins; break;
    case RecordRole::IterationEnd:
        ++m_ends;
        for (const auto &[name, value] : record.fields)
            m_pending = m_pending || (name == "pending_collectives" && value != "0");
        break;
    case RecordRole::Failure: ++m_failures; break;
    case RecordRole::Truncated: ++m_truncations; break;
    case RecordRole::CollectiveBegin: ++m_open[record.group]; break;
    case RecordRole::CollectiveEnd: --m_open[record.group]; break;
    default: break;
    }
}

std::vector<std::string> TraceCertificate::problems() const
{
    std::vector<std::string> found;
    const auto add = [&](bool applies, std::string text) {
        if (applies)
            found.push_back(std::move(text));
    };
    add(m_unordered > 0,
        counted(m_unordered, "sequence number does", "sequence numbers do")
            + " not follow the one before");
    add(m_begins != m_ends,
        "begins " + counted(m_begins, "time", "times") + " and ends "
            + counted(m_ends, "time", "times"));
    add(m_begins > 1, "begins more than once");
    add(m_runtimes > 1, "states its runtime more than once");
    add(m_failures > 0, "ended by an error");
    add(m_truncations > 0, "the tool stopped recording");
    add(m_pending, "collectives were pending at its end");
    std::uint64_t unmatched = 0;
    for (const auto &[group, count] : m_open)
        unmatched += count != 0 ? 1u : 0u;
    add(unmatched > 0,
        counted(unmatched, "collective", "collectives") + " began without an end, or the reverse");
    return found;
}

} // namespace forkpoint
