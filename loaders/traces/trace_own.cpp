// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_own.h"

#include "loaders/hdf5/hdf5_client.h"
#include "loaders/hdf5/hdf5_loader.h"
#include "loaders/limits.h"
#include "loaders/traces/own_name.h"
#include "loaders/traces/own_record.h"
#include "loaders/traces/own_segment.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace forkpoint {

namespace {

/// Segments that were opened last: each is probed, indexed and read, iteration by iteration, and
/// opening one takes a process.
class SegmentCache
{
public:
    using Segment = Result<std::shared_ptr<const OwnSegment>>;

    Segment open(const std::shared_ptr<const ByteSource> &source)
    {
        {
            const std::lock_guard lock(m_mutex);
            const auto known = std::find_if(m_entries.begin(), m_entries.end(),
                                            [&](const Entry &e) { return e.source == source; });
            if (known != m_entries.end()) {
                std::rotate(m_entries.begin(), known, known + 1);
                return m_entries.front().segment;
            }
        }
        Segment segment = OwnSegment::open(source);
        if (!segment.ok() && segment.error().code == ErrorCode::Io)
            return segment; // the next time it may be there
        const std::lock_guard lock(m_mutex);
        m_entries.push_front({source, segment});
        if (m_entries.size() > Capacity)
            m_entries.pop_back();
        return segment;
    }

private:
    static constexpr std::size_t Capacity = 64;

    struct Entry
    {
        std::shared_ptr<const ByteSource> source;
        Segment segment;
    };

    std::mutex m_mutex;
    std::deque<Entry> m_entries; ///< newest first
};

SegmentCache &segments()
{
    // Never destroyed: what it holds uses caches of others that may go before it.
    static SegmentCache *const cache = new SegmentCache;
    return *cache;
}

class OwnReader final : public TraceReader
{
public:
    OwnReader(const TraceFile &file, const TracePlace &from)
        : m_file(file),
          m_next(from.row > 0 ? from.row - 1 : 0)
    {
    }

    const TracePart *part() const override { return m_segment ? &m_segment->part() : nullptr; }

    Result<std::optional<TraceRecord>> next() override
    {
        if (!m_isOpen)
            open();
        while (m_records && !m_records->atEnd()) {
            TraceRecord record;
            record.place = {m_file.index, 0, 0, 0, m_records->position() + 1};
            auto problem = m_records->read(record);
            if (!problem.ok())
                return std::move(problem).error().atPlace(record.place.toText());
            if (!problem->empty()) {
                addProblem(record.place, "bad-record", std::move(*problem));
                continue;
            }
            checkStep(record);
            return std::optional(std::move(record));
        }
        closeStep();
        return std::optional<TraceRecord>();
    }

private:
    void open()
    {
        m_isOpen = true;
        auto opened = segments().open(m_file.source);
        if (!opened.ok()) {
            addProblem({m_file.index, 0, 0, 0, 0}, std::string(toString(opened.error().code)),
                       (opened.error().place.empty() ? "" : opened.error().place + ": ")
                           + opened.error().text);
            return;
        }
        m_segment = *opened;
        m_coordinate = m_segment->part().coordinate;
        addFact(TraceFact::Role::Schema, "version", "1");
        addFact(TraceFact::Role::Parallel, "world_size", std::to_string(m_segment->worldSize()));
        for (const TraceFact &fact : m_segment->facts())
            addFact(fact.role, fact.name, fact.value);
        if (m_segment->part().isEnd)
            return;
        if (m_next == 0)
            checkUnused();
        m_records.emplace(m_segment, m_file.name, m_next);
    }

    /// No record needs this column; a file in which it cannot be read is damaged all the same.
    void checkUnused()
    {
        NumberColumn digests = m_segment->column(OwnColumn::Tensor);
        for (std::uint64_t row = 0; row < digests.rows(); ++row) {
            const auto bytes = digests.bytes(row);
            if (bytes.ok())
                continue;
            addProblem({m_file.index, 0, 0, 0, 0}, std::string(toString(bytes.error().code)),
                       "dataset 'tensors/tensor': " + bytes.error().text);
            return;
        }
    }

    /// Every step begins and ends with a mark, and lies within what the segment is of.
    void checkStep(const TraceRecord &record)
    {
        if (record.iteration != m_step) {
            closeStep();
            if (record.role != RecordRole::IterationBegin)
                addProblem(record.place, "no-begin",
                           "step " + std::to_string(*record.iteration)
                               + " must begin with the mark of its begin");
            if (*record.iteration < m_segment->part().firstStep
                || *record.iteration > m_segment->part().lastStep)
                addProblem(record.place, "foreign-step",
                           "is of step " + std::to_string(*record.iteration)
                               + ", the segment is of steps "
                               + std::to_string(m_segment->part().firstStep) + " to "
                               + std::to_string(m_segment->part().lastStep));
        }
        m_step = record.iteration;
        m_hasEnded = record.role == RecordRole::IterationEnd;
        m_last = record.place;
    }

    void closeStep()
    {
        if (m_step && !m_hasEnded)
            addProblem(m_last, "no-end",
                       "step " + std::to_string(*m_step) + " ends without the mark of its end");
        m_step.reset();
    }

    TraceFile m_file;
    std::uint64_t m_next;
    bool m_isOpen = false;
    std::shared_ptr<const OwnSegment> m_segment;
    std::optional<OwnRecords> m_records;
    std::optional<std::int64_t> m_step;
    bool m_hasEnded = false;
    TracePlace m_last;
};

class Own final : public TraceDialect
{
public:
    std::string_view name() const override { return "forkpoint-trace"; }
    std::string_view description() const override
    {
        return "Forkpoint's own traces (rank_*/steps_*.h5): fingerprints, whole tensors on demand";
    }
    SequenceRule sequenceRule() const override { return SequenceRule::GapFree; }
    bool claimsBinary(std::string_view fileName) const override { return isOwnTraceName(fileName); }
    bool isBeingWritten(std::string_view fileName) const override
    {
        return fileName.ends_with(OwnUnfinished)
            && isOwnTraceName(fileName.substr(0, fileName.size() - OwnUnfinished.size()));
    }
    Confidence probe(const TraceFile &file, std::string_view head) const override
    {
        if (!isOwnTraceName(file.name) || !hasHdf5Signature(asBytes(head), *file.source))
            return Confidence::No;
        // Names decide only which files are worth a look into; without libhdf5 nothing can.
        if (!whyNoHdf5().empty())
            return Confidence::Yes;
        const auto segment = segments().open(file.source);
        const bool isForeign = !segment.ok() && segment.error().place == OwnSegment::FormatPlace;
        return isForeign ? Confidence::No : Confidence::Yes;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<OwnReader>(file, from));
    }
    Result<std::shared_ptr<const ByteSource>> payloads(const TraceFile &file,
                                                       const std::string &) const override
    {
        FP_TRY(const auto segment, segments().open(file.source));
        if (segment->payload())
            return segment->payload();
        return std::shared_ptr<const ByteSource>(
            std::make_shared<MemorySource>(file.name, std::vector<std::byte>()));
    }
    Status leafDigests(const TraceFile &file, std::uint64_t row,
                       MutableByteView into) const override
    {
        FP_TRY(const auto segment, segments().open(file.source));
        return segment->leafDigests(row, into);
    }
};

} // namespace

const TraceDialect &ownDialect()
{
    static const Own dialect;
    return dialect;
}

} // namespace forkpoint
