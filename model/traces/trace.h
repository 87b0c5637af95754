// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/diagnostic.h"
#include "model/result.h"
#include "model/traces/trace_record.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

class TensorSource;

/// Records one after the other, in memory that does not grow with the file.
class TraceCursor
{
public:
    virtual ~TraceCursor() = default;
    TraceCursor(const TraceCursor &) = delete;
    TraceCursor &operator=(const TraceCursor &) = delete;

    /// The next record, or nothing at the end. What cannot be used is skipped; whoever indexed the
    /// trace said so. An error means that reading failed.
    virtual Result<std::optional<TraceRecord>> next() = 0;

protected:
    TraceCursor() = default;
};

/// Consecutive records of one iteration in one file.
struct TraceSegment
{
    std::optional<std::int64_t> iteration;
    TracePlace begin; ///< of its first record
    std::uint64_t records = 0;
    /// The byte where the next one of the file begins; of the last one none.
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

/// One rank's records in the order in which they were written.
struct TraceStream
{
    TraceCoordinate coordinate;
    std::vector<TraceSegment> segments;
    std::vector<TraceFact> facts; ///< of this rank's files

    std::vector<std::optional<std::int64_t>> iterations() const; ///< in order of first use
};

/// What the sequence numbers of a dialect prove of its completeness.
enum class SequenceRule : std::uint8_t {
    None,
    Rising,  ///< they rise; gaps mean nothing
    GapFree, ///< they count from 0 in each iteration
};

/// An opened trace: an index of byte offsets; records are read on demand.
class Trace
{
public:
    virtual ~Trace() = default;
    Trace(const Trace &) = delete;
    Trace &operator=(const Trace &) = delete;

    virtual const std::string &dialect() const = 0;
    virtual SequenceRule sequenceRule() const { return SequenceRule::None; }
    /// Whether a file that ends early, between two records, would be noticed for that. Where not, the
    /// records of its last step may go on without a proof of the opposite: a mark of the step's end.
    virtual bool noticesCuts() const { return true; }
    virtual const std::vector<TraceStream> &streams() const = 0; ///< sorted by coordinate
    virtual const std::vector<std::string> &files() const = 0;   ///< relative, as errors name them
    /// Lines that could not be used, torn tails, doubtful files.
    virtual const Diagnostics &diagnostics() const = 0;
    /// False where records are known to be missing: a torn tail, a damaged line, a gap.
    virtual bool complete() const = 0;

    /// The records of one segment, from its first to its last.
    virtual Result<std::unique_ptr<TraceCursor>> open(std::size_t stream,
                                                      std::size_t segment) const = 0;
    /// The source of a record as it is in the file, up to `most` bytes of it.
    virtual Result<std::string> sourceText(const TracePlace &place, std::size_t most) const = 0;

    /// Iterations of which whole tensors were kept, rising; first that of records without one.
    virtual std::vector<std::optional<std::int64_t>> keptIterations() const { return {}; }
    /// The tensors kept of one of these, as a checkpoint.
    virtual Result<std::shared_ptr<const TensorSource>> kept(std::optional<std::int64_t> iteration,
                                                             std::stop_token stop) const;
    /// Digests of leaves (fingerprint.md), 16 bytes each, from that row of the table on which the file
    /// of a record at `place` keeps.
    virtual Status leafDigests(const TracePlace &place, std::uint64_t row,
                               MutableByteView into) const;
    /// Whether files joined or left the trace since it was opened.
    virtual Status unchanged() const { return {}; }

protected:
    Trace() = default;
};

} // namespace forkpoint
