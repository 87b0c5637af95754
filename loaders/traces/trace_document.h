// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_entries.h"
#include "loaders/traces/trace_lines.h"

#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// Base of readers of the documents that Megatron's determinism tools leave, one a process: members
/// that say whose it is (`schema_version`, `recipe_id` or `run_id`, `rank`, `context`), members that
/// say whether it is whole (`complete`, `truncated`, `capture_issues`, `context_after`), and one list
/// or mapping whose entries are the records. Memory holds one entry.
class TraceDocumentReader : public TraceEntryReader
{
public:
    /// Whether a file of that name holds tensors of records.
    static bool isPayload(std::string_view) { return false; }
    /// `container`: the member that holds the records.
    TraceDocumentReader(const TraceFile &file, const TracePlace &from, std::string container);

protected:
    /// One entry; what is missing or of another kind in `fields` leaves it out.
    virtual void takeFields(const std::string &key, const JsonFields &fields,
                            TraceRecord &record) = 0;
    /// A member of the root that is the format's own.
    virtual void takeMember(const std::string &, const JsonValue &, const TracePlace &) {}
    /// After the last byte of a whole document.
    virtual void checkEnd(const TracePlace &) {}

    /// A member of an operation's signature (`op_id`, `implementation`, `phase`, `inputs`, settings):
    /// name, stage, identity and inputs of the record.
    void takeSignature(const JsonFields &signature, TraceRecord &record);
    /// A tensor by `shape`, `stride`, `dtype`, `requires_grad`, and `sha256` where it has one.
    Observation takeTensor(const JsonFields &tensor, const std::string &path,
                           const TracePlace &place);

private:
    Status takeHeader(const Entry &entry, const TracePlace &place) final;
    bool takeEntry(const Entry &entry, TraceRecord &record) final;
    void atEnd(const TracePlace &place) final;
    void takeContext(const JsonValue &context);
    void takeCollective(const JsonFields &collective, TraceRecord &record);
    void takeSettings(const JsonFields &signature);

    bool m_fromStart; ///< the members before the records are seen
    bool m_isComplete = false;
    std::string m_context;
    std::optional<std::string> m_contextAfter;
};

} // namespace forkpoint
