// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_evidence.h"
#include "model/traces/trace_record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// How a record of A and its partner in B stand to each other.
enum class RecordStatus : std::uint8_t {
    Equal,     ///< by evidence that may say so
    NoneSeen,  ///< no difference seen, by evidence that may not say equal
    Different, ///< values, shapes, element types or the number of tensors
    Moved,     ///< equal as far as recorded, at another place in the order
    OnlyA,
    OnlyB,
    NotComparable, ///< digests of two kinds, or one side alone tells the value
    NoValue,       ///< a mark, or neither side tells a value
    Artifact,      ///< its values mean nothing (rule M14)
    Open,          ///< whether it has a partner is not known yet
    NotCompared,   ///< listed of one trace, which is set against nothing
};

std::string_view toString(RecordStatus status);

/// A difference as the comparison of traces counts it.
bool isDifference(RecordStatus status);

/// A record as a list keeps it: with bounded texts and few observations, whatever the file holds.
struct ListedRecord
{
    static constexpr std::size_t MostObservations = 64; ///< of inputs, and of outputs
    static constexpr std::size_t MostCharacters = 1024; ///< of one text
    static constexpr std::size_t MostBytes = 64 * 1024; ///< of all texts, about

    TraceRecord record;
    std::uint64_t identity = 0;                        ///< identityOf() the whole record
    std::uint64_t inputs = 0, outputs = 0, fields = 0; ///< how many the whole record has
};

ListedRecord listed(const TraceRecord &record);
/// A text of a record as a list keeps it.
std::string shortened(std::string text);

/// One row of the two lists side by side.
struct RecordRow
{
    std::uint64_t number = 0; ///< in the order of the walk; rises, with gaps
    RecordStatus status = RecordStatus::Open;
    std::optional<ListedRecord> a, b;
    RecordEvidence evidence; ///< of the whole records
    bool moved = false;      ///< partners at two places: the row stands at the earlier one
    bool afterSlip = false;  ///< partners whose call numbers differ

    /// Of A where it has one.
    const TraceRecord &record() const { return a ? a->record : b->record; }
};

/// `a` or `b` may be nullptr, then the other is without a partner.
RecordStatus statusOf(const TraceRecord *a, const TraceRecord *b, const RecordEvidence &evidence,
                      bool moved);

} // namespace forkpoint
