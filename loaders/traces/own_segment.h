// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/number_column.h"
#include "loaders/storage/byte_source.h"
#include "loaders/traces/trace_part.h"

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace forkpoint {

/// Columns of a segment of our own trace (resources/docs/trace.md).
enum class OwnColumn : std::size_t {
    FactRole,
    FactName,
    FactValue,
    Role,
    Step,
    MicroBatch,
    Sequence,
    Stage,
    Name,
    Scope,
    Call,
    Flags,
    Inputs,
    Outputs,
    Values,
    Group,
    Caller,
    Path,
    DType,
    Rank,
    Bytes,
    Absence,
    Content,
    Tensor,
    Note,
    Payload,
    Leaves,
    AbsMax,
    L2,
    Nan,
    Inf,
    Zero,
    ValueName,
    ValueText,
    Count_,
};

/// Where a record's parts begin in the other tables.
struct OwnStart
{
    std::uint64_t record = 0, tensor = 0, dimension = 0, value = 0;
};

/// One file of our own trace: its header checked, every column where it must be and of its length.
/// Immutable; columns are read on demand through readers of their own.
class OwnSegment
{
public:
    /// The place of the error of a file that is no part of a trace at all.
    static constexpr std::string_view FormatPlace = "attribute 'format'";

    /// Malformed, Unsupported or Limit where the file is not what the specification says.
    static Result<std::shared_ptr<const OwnSegment>> open(std::shared_ptr<const ByteSource> source);
    /// The same of a file that was looked through already; `fileBytes`: what it takes.
    static Result<std::shared_ptr<const OwnSegment>>
    of(std::shared_ptr<const TensorSource> file, const std::string &name, std::uint64_t fileBytes);

    const TracePart &part() const { return m_part; }
    std::uint64_t worldSize() const { return m_worldSize; }
    const std::vector<TraceFact> &facts() const { return m_facts; }
    /// An empty column where an optional one is missing.
    NumberColumn column(OwnColumn column) const;
    NumberColumn dimensions() const;
    NumberColumn stringBytes() const;
    NumberColumn stringEnds() const;
    /// A place at or before that record, of which there are enough for a short walk.
    OwnStart startBefore(std::uint64_t record) const;
    /// The store of whole tensors; nullptr where none was kept.
    std::shared_ptr<const ByteSource> payload() const { return m_payload; }
    std::uint64_t leaves() const { return m_leaves.rows(); } ///< whose digests are kept
    /// Their digests from that row on, 16 bytes each.
    Status leafDigests(std::uint64_t row, MutableByteView into) const;

private:
    OwnSegment() = default;
    Status readHeader();
    Status findColumns(std::uint64_t fileBytes);
    Status findOthers();
    Status readFacts();
    Status markStarts();
    Result<std::int64_t> integer(std::string_view name) const;
    Result<std::uint64_t> count(std::string_view name) const;
    std::string textOf(std::string_view name) const;
    Result<NumberColumn> dataset(std::string_view group, std::string_view name,
                                 std::string_view dtype, std::size_t width) const;

    std::shared_ptr<const TensorSource> m_file;
    TracePart m_part;
    std::uint64_t m_worldSize = 0;
    std::vector<TraceFact> m_facts;
    std::array<NumberColumn, std::size_t(OwnColumn::Count_)> m_columns;
    NumberColumn m_dimensions, m_stringBytes, m_stringEnds, m_leaves;
    std::vector<OwnStart> m_starts;
    std::shared_ptr<const ByteSource> m_payload;
};

/// Strings of a segment by number. What was read lately is kept, up to a few megabytes.
class OwnStrings
{
public:
    explicit OwnStrings(const OwnSegment &segment)
        : m_bytes(segment.stringBytes()),
          m_ends(segment.stringEnds())
    {
    }

    Result<std::string> text(std::uint64_t number);

private:
    NumberColumn m_bytes, m_ends;
    std::unordered_map<std::uint64_t, std::string> m_known;
    std::size_t m_knownBytes = 0;
};

} // namespace forkpoint
