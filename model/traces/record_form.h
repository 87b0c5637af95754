// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// What records have in common whose lines are the same but for numbers and digests: a tracer writes the
/// same few thousand calls in every iteration. Such a record is known by its form and by what is its own
/// (FormedRecord), and need not be made to be counted.
struct RecordForm
{
    /// A digest of its own that each record has.
    struct Digest
    {
        bool isOutput = false;
        std::uint32_t observation = 0;     ///< among inputs or outputs
        std::uint32_t begin = 0, size = 0; ///< in FormedRecord::digests
    };

    TraceRecord record; ///< the one by which the form was found
    std::vector<Digest> digests;
    std::vector<std::pair<bool, std::uint32_t>>
        stated;                ///< other values: of an output, and its place
    std::uint64_t keyHash = 0; ///< hashOfKey(record.key)
    std::string fixed;         ///< what the lines have in common, and whose reader read them
    std::uint64_t fixedHash = 0;

    /// Whether records of both differ in their own alone.
    bool isLike(const RecordForm &other) const
    {
        return this == &other || (fixedHash == other.fixedHash && fixed == other.fixed);
    }
};

/// One record of a form: what its line has of its own.
struct FormedRecord
{
    const RecordForm *form = nullptr; ///< as long as the trace
    TracePlace place;
    std::optional<std::int64_t> iteration;
    std::optional<std::uint64_t> sequence;
    std::uint64_t call = 0;
    std::string_view digests; ///< one behind the other, until the next record is read
};

TraceRecord toRecord(const FormedRecord &formed);

/// A cursor that knows forms.
class FormedCursor
{
public:
    virtual ~FormedCursor() = default;

    /// The next record, if it is of a form that is known; else nothing was taken, and next() gives it.
    virtual Result<bool> nextFormed(FormedRecord &into) = 0;
    /// Whether all its records come out of memory, sooner than another thread could hand them over.
    virtual bool isInMemory() const { return false; }
};

/// A record as a cursor gives it: by its form where it has one, else whole.
struct FoundRecord
{
    FormedRecord formed; ///< without a form: `whole`
    std::optional<TraceRecord> whole;

    TraceRecord take() { return formed.form ? toRecord(formed) : *std::move(whole); }
};

/// The next record of a cursor; false at the end. `forms`: the cursor, where it knows forms.
Result<bool> readNext(TraceCursor &cursor, FormedCursor *forms, FoundRecord &into);

} // namespace forkpoint
