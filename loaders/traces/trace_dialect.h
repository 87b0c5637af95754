// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"
#include "loaders/storage/byte_source.h"
#include "loaders/traces/line_forms.h"
#include "loaders/traces/trace_part.h"
#include "model/traces/trace.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

class PayloadDigests;
class TreeFolders;

/// One file that may belong to a trace.
struct TraceFile
{
    std::shared_ptr<const ByteSource> source; ///< its decoded bytes, where it was gzip
    std::string name;                         ///< relative: "iter_0000001/rank_00000.jsonl"
    std::filesystem::path directory; ///< that `name` is relative to: for payloads beside it
    std::uint32_t index = 0;         ///< for TracePlace::file
    std::shared_ptr<PayloadDigests> payloads = {}; ///< of the whole trace; may be missing
    std::shared_ptr<LineFormPool> forms = {};      ///< likewise
    std::stop_token stop = {};                     ///< for what takes long in one record
    /// Nothing behind that byte is asked for, so that reading ahead stops there.
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
    std::shared_ptr<TreeFolders> treeFolders = {}; ///< while a directory is looked through
};

/// Reads the records of one file. It keeps no more than the record at hand, or, of a format that is
/// one document, that document (limits::JsonBytes).
class TraceReader : public TraceCursor
{
public:
    /// Whose records the file holds, and what it says of itself: complete once the first record was
    /// read. Where records name other ranks, that is a problem of theirs.
    const TraceCoordinate &coordinate() const { return m_coordinate; }
    const std::vector<TraceFact> &facts() const { return m_facts; }
    /// Whose the record is that was read last, where one file may hold several ranks.
    virtual std::optional<std::int64_t> rankOfRecord() const { return std::nullopt; }
    /// What the file says of its place among those of its rank, once the first record was asked for;
    /// nullptr where its dialect has no such thing.
    virtual const TracePart *part() const { return nullptr; }
    /// What was skipped or is odd since the last call. A Warning means that a record is missing.
    Diagnostics takeDiagnostics();

protected:
    void addProblem(const TracePlace &place, std::string code, std::string text);
    void addNote(const TracePlace &place, std::string code, std::string text);
    /// The rank that a record names: the file's own, or a problem.
    void takeRank(std::int64_t rank, const TracePlace &place);
    void addFact(TraceFact::Role role, std::string_view name, std::string_view value);

    TraceCoordinate m_coordinate;
    /// What was said of the file since it was set, the rank and facts again and again.
    std::optional<LineRemarks> m_remarks;

    bool hasDiagnostics() const { return !m_diagnostics.empty(); }

private:
    void add(Severity severity, const TracePlace &place, std::string code, std::string text);

    static constexpr std::size_t MostFacts = 1000;

    std::vector<TraceFact> m_facts;
    Diagnostics m_diagnostics;
};

/// What one tool writes. To add one: derive, enter it into allTraceDialects(), and give it a page
/// or a paragraph in resources/docs/traces.md, a fuzz target and a small file by the real writer.
class TraceDialect
{
public:
    virtual ~TraceDialect() = default;

    virtual std::string_view name() const = 0;        ///< "megatron-bridge"
    virtual std::string_view description() const = 0; ///< one line for `formats`
    virtual SequenceRule sequenceRule() const { return SequenceRule::None; }
    virtual bool noticesCuts() const { return true; } ///< see Trace
    /// Whether files of that name may be this dialect's although they are no text.
    virtual bool claimsBinary(std::string_view) const { return false; }
    /// Whether a file of that name will become one of this dialect's: told, and not read.
    virtual bool isBeingWritten(std::string_view) const { return false; }
    /// Whether a file of that name beside a trace holds tensors of its records: no checkpoint.
    virtual bool isPayload(std::string_view) const { return false; }
    /// The store of whole tensors that observations of a file call `payload` and point into: the
    /// file of that name, unless a dialect knows better.
    virtual Result<std::shared_ptr<const ByteSource>> payloads(const TraceFile &file,
                                                               const std::string &payload) const;
    /// Rows of a file's table of leaf digests, to which LeafRows of its records refer: 16 bytes each.
    virtual Status leafDigests(const TraceFile &file, std::uint64_t row,
                               MutableByteView into) const;
    /// Whether a file is this dialect's, by its first bytes.
    virtual Confidence probe(const TraceFile &file, std::string_view head) const = 0;
    /// A reader that begins at `from` (a record's place; {} for the start). The records from there
    /// on are the same as those of a reader that began at the start.
    virtual Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                                      const TracePlace &from) const = 0;
};

/// The explicit table of dialects, in the order in which they are asked.
const std::vector<const TraceDialect *> &allTraceDialects();

} // namespace forkpoint
