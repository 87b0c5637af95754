// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_entries.h"

#include "loaders/limits.h"

namespace forkpoint {

TraceEntryReader::TraceEntryReader(const TraceFile &file, std::string container, std::uint64_t from)
    : m_file(file),
      m_entries(*m_file.source, std::move(container), from, limits::TraceLineBytes)
{
}

Result<std::optional<TraceRecord>> TraceEntryReader::next()
{
    while (!m_ended) {
        TraceRecord record;
        record.place.file = m_file.index;
        auto entry = m_entries.next();
        if (!entry.ok() && entry.error().code == ErrorCode::Malformed) {
            // A process that crashed leaves its records without the end of the document.
            m_ended = true;
            addProblem(record.place, "torn-document",
                       entry.error().place + ": " + entry.error().text
                           + "; the entries before it are read");
            break;
        }
        FP_TRY(const auto found, std::move(entry));
        if (!found) {
            m_ended = true;
            atEnd(record.place);
            break;
        }
        record.place.byte = found->byte;
        record.place.size = found->size;
        if (!found->inContainer) {
            FP_CHECK(takeHeader(*found, record.place));
        } else if (found->tooLong) {
            addProblem(record.place, "limit",
                       "is longer than " + std::to_string(limits::TraceLineBytes)
                           + " bytes and was left out");
        } else if (takeEntry(*found, record)) {
            return std::optional(std::move(record));
        }
    }
    return std::optional<TraceRecord>();
}

bool TraceEntryReader::parse(const Entry &entry, const TracePlace &place,
                             const std::function<bool(const JsonFields &)> &take)
{
    const auto document = JsonDocument::parse(entry.text, RepeatedKeys::Refuse, NonFinite::Take);
    if (!document.ok()) {
        addProblem(place, "bad-entry", document.error().text);
        return false;
    }
    if (document->hasNonFinite())
        addNote(place, "non-finite",
                "has NaN or an infinity without quotes, which is no JSON: read as that float");
    JsonProblem trouble;
    const JsonFields fields(document->root(), {}, trouble);
    const bool taken = !trouble.error && take(fields);
    if (trouble.error)
        addProblem(place, "bad-entry",
                   (trouble.error->place.empty() ? "" : trouble.error->place + " ")
                       + trouble.error->text);
    return taken && !trouble.error;
}

} // namespace forkpoint
