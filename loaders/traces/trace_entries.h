// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/json_entries.h"
#include "loaders/text/json_fields.h"
#include "loaders/traces/trace_dialect.h"

#include <functional>
#include <optional>
#include <string>

namespace forkpoint {

/// Base of readers of one JSON document whose container holds the records, an entry each. An entry
/// over limits::TraceLineBytes is told and left out; a document that is torn ends where it is torn.
class TraceEntryReader : public TraceReader
{
public:
    using Entry = JsonEntryReader::Entry;

    /// `container`: the member that holds the records. `from`: see JsonEntryReader.
    TraceEntryReader(const TraceFile &file, std::string container, std::uint64_t from);

    Result<std::optional<TraceRecord>> next() final;

protected:
    /// A member of the root beside the container; it may be too long. An error ends the reading.
    virtual Status takeHeader(const Entry &entry, const TracePlace &place) = 0;
    /// An entry of the container; the record's place is set. False: it is no record.
    virtual bool takeEntry(const Entry &entry, TraceRecord &record) = 0;
    /// After the last byte of a whole document.
    virtual void atEnd(const TracePlace &) {}

    /// Parses an entry and hands its fields over: true where `take` is and nothing was missing or of
    /// another kind; else that is told.
    bool parse(const Entry &entry, const TracePlace &place,
               const std::function<bool(const JsonFields &)> &take);
    const TraceFile &file() const { return m_file; }

private:
    TraceFile m_file;
    JsonEntryReader m_entries;
    bool m_ended = false;
};

} // namespace forkpoint
