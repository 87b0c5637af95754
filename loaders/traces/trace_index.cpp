// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/limits.h"
#include "loaders/traces/kept_tensors.h"
#include "loaders/traces/open_trace.h"
#include "loaders/traces/packed_segments.h"
#include "loaders/traces/trace_payload.h"
#include "model/traces/record_form.h"

#include <algorithm>
#include <map>
#include <set>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// Reads a segment and stops behind its last record.
class SegmentCursor final : public TraceCursor, public FormedCursor
{
public:
    SegmentCursor(std::unique_ptr<TraceReader> reader, std::uint64_t records, std::string file)
        : m_reader(std::move(reader)),
          m_forms(dynamic_cast<FormedCursor *>(m_reader.get())),
          m_left(records),
          m_file(std::move(file))
    {
    }

    Result<std::optional<TraceRecord>> next() override
    {
        if (m_left == 0)
            return std::optional<TraceRecord>();
        return counted(m_reader->next());
    }

    Result<bool> nextFormed(FormedRecord &into) override
    {
        if (!m_forms || m_left == 0)
            return false;
        FP_TRY(const bool isFormed, m_forms->nextFormed(into));
        m_left -= isFormed ? 1u : 0u;
        return isFormed;
    }

private:
    using Record = Result<std::optional<TraceRecord>>;

    /// An end before that of the segment is none: what was indexed is not there any more, or does not open.
    Record counted(Record record)
    {
        --m_left;
        if (!record.ok() || *record)
            return record;
        const Diagnostics found = m_reader->takeDiagnostics();
        std::string text = "has " + std::to_string(m_left + 1)
            + " records fewer in this step than when it was indexed";
        if (!found.empty())
            text += ": " + found.front().text;
        return Error{ErrorCode::Changed, m_file, {}, std::move(text)};
    }

    std::unique_ptr<TraceReader> m_reader;
    FormedCursor *m_forms = nullptr; ///< the reader, where it is one
    std::uint64_t m_left;
    std::string m_file;
};

/// The records of a segment that is kept.
class PackedCursor final : public TraceCursor, public FormedCursor
{
public:
    explicit PackedCursor(std::unique_ptr<FormedCursor> records) : m_records(std::move(records)) {}

    Result<std::optional<TraceRecord>> next() override
    {
        FormedRecord formed;
        FP_TRY(const bool isFound, m_records->nextFormed(formed));
        return isFound ? std::optional(toRecord(formed)) : std::nullopt;
    }
    Result<bool> nextFormed(FormedRecord &into) override { return m_records->nextFormed(into); }
    bool isInMemory() const override { return true; }

private:
    std::unique_ptr<FormedCursor> m_records;
};

class IndexedTrace final : public Trace
{
public:
    explicit IndexedTrace(TraceFiles files)
        : m_dialect(files.dialect->name()),
          m_mapped(std::move(files.mapped)),
          m_reader(*files.dialect),
          m_files(std::move(files.files)),
          m_directory(std::move(files.directory)),
          m_diagnostics(std::move(files.diagnostics))
    {
        const auto payloads = std::make_shared<PayloadDigests>();
        const auto forms = std::make_shared<LineFormPool>();
        for (TraceFile &file : m_files) {
            file.payloads = payloads;
            file.forms = forms;
            m_names.push_back(file.name);
        }
        m_alike = filesAlike();
        m_complete = std::none_of(m_diagnostics.begin(), m_diagnostics.end(),
                                  [](const Diagnostic &d) { return d.severity != Severity::Note; });
    }

    const std::string &dialect() const override { return m_dialect; }
    SequenceRule sequenceRule() const override { return m_reader.sequenceRule(); }
    bool noticesCuts() const override { return m_reader.noticesCuts(); }
    const std::vector<TraceStream> &streams() const override { return m_streams; }
    const std::vector<std::string> &files() const override { return m_names; }
    const Diagnostics &diagnostics() const override { return m_diagnostics; }
    bool complete() const override { return m_complete; }

    Result<std::unique_ptr<TraceCursor>> open(std::size_t stream,
                                              std::size_t segment) const override
    {
        const TraceSegment &wanted = m_streams[stream].segments[segment];
        if (auto packed = m_packed.open(wanted.begin, wanted.iteration))
            return std::unique_ptr<TraceCursor>(std::make_unique<PackedCursor>(std::move(packed)));
        TraceFile file = m_files[wanted.begin.file];
        file.end = wanted.end;
        FP_TRY(auto reader, m_reader.open(file, wanted.begin));
        return std::unique_ptr<TraceCursor>(
            std::make_unique<SegmentCursor>(std::move(reader), wanted.records, file.name));
    }

    Result<std::string> sourceText(const TracePlace &place, std::size_t most) const override
    {
        std::string text(std::size_t(std::min<std::uint64_t>(place.size, most)), '\0');
        FP_CHECK(m_files[place.file].source->read(
            place.byte, std::as_writable_bytes(std::span(text.data(), text.size()))));
        return text;
    }

    Status leafDigests(const TracePlace &place, std::uint64_t row,
                       MutableByteView into) const override
    {
        if (place.file >= m_files.size())
            return Error{ErrorCode::NotFound, {}, {}, "there is no such file in the trace"};
        return m_reader.leafDigests(m_files[place.file], row, into);
    }

    std::vector<std::optional<std::int64_t>> keptIterations() const override
    {
        return {m_kept.begin(), m_kept.end()};
    }

    Result<std::shared_ptr<const TensorSource>> kept(std::optional<std::int64_t> iteration,
                                                     std::stop_token stop) const override
    {
        KeptTensors tensors(m_streams.size() > 1);
        for (std::size_t s = 0; s < m_streams.size(); ++s) {
            const auto &segments = m_streams[s].segments;
            for (std::size_t i = 0; i < segments.size(); ++i) {
                if (segments[i].iteration == iteration)
                    FP_CHECK(addKept(s, i, stop, tensors));
            }
        }
        return tensors.build(m_dialect);
    }

    Status unchanged() const override
    {
        for (const TraceFile &file : m_files)
            FP_CHECK(file.source->unchanged());
        const std::set<std::string> now = filesAlike();
        for (const std::string &name : now) {
            if (m_alike.count(name) == 0 && joinsTrace(m_directory, name, m_reader, m_mapped))
                return Error{ErrorCode::Changed, name, {}, "has joined the trace since"};
        }
        for (const std::string &name : m_names) {
            if (m_alike.count(name) > 0 && now.count(name) == 0)
                return Error{ErrorCode::Changed, name, {}, "has left the trace since"};
        }
        return {};
    }

    Status index(const std::stop_token &stop)
    {
        for (TraceFile &file : m_files) {
            file.stop = stop;
            FP_CHECK(indexFile(file, stop));
            file.stop = {}; // whoever reads records later has a stop of their own
        }
        m_packed.finish();
        takeParts();
        for (auto &[key, stream] : m_byRank) {
            std::stable_sort(stream.segments.begin(), stream.segments.end(),
                             [](const TraceSegment &a, const TraceSegment &b) {
                                 return a.iteration < b.iteration;
                             });
            m_streams.push_back(std::move(stream));
        }
        m_byRank.clear();
        return {};
    }

private:
    using Key =
        std::pair<std::vector<std::pair<std::string, std::int64_t>>, std::optional<std::int64_t>>;

    /// Of one file; the key is nothing where it is of one rank.
    using SegmentsByRank = std::map<std::optional<std::int64_t>, std::vector<TraceSegment>>;

    Status indexFile(const TraceFile &file, const std::stop_token &stop)
    {
        FP_TRY(const auto reader, m_reader.open(file, {}));
        const auto forms = dynamic_cast<FormedCursor *>(reader.get());
        FoundRecord found;
        SegmentsByRank ranks;
        TraceSegment *last = nullptr;
        std::optional<std::int64_t> rankOfLast;
        for (;;) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, file.name, {}, "cancelled"};
            const auto isFound = readNext(*reader, forms, found);
            takeDiagnostics(*reader, file);
            if (!isFound.ok()) {
                note(Severity::Error, std::string(toString(isFound.error().code)), file.name,
                     isFound.error().place, isFound.error().text);
                m_packed.spoil(); // who reads the segment is to meet the error too
                break;
            }
            if (!*isFound)
                break;
            const bool isFormed = found.formed.form != nullptr;
            const auto iteration = isFormed ? found.formed.iteration : found.whole->iteration;
            const auto rank = reader->rankOfRecord();
            if (!last || last->iteration != iteration || rank != rankOfLast) {
                if (++m_segments > limits::TraceSegments) {
                    note(Severity::Warning, std::string(toString(ErrorCode::Limit)), file.name, {},
                         "changes its iteration or rank more than "
                             + std::to_string(limits::TraceSegments)
                             + " times; the rest is left out");
                    break;
                }
                const TracePlace &place = isFormed ? found.formed.place : found.whole->place;
                if (last) {
                    last->end = place.byte;
                    m_packed.endSegment(last->begin);
                }
                last = &ranks[rank].emplace_back(TraceSegment{iteration, place});
                rankOfLast = rank;
            }
            ++last->records;
            if (isFormed) { // and keeps no tensor
                m_packed.add(found.formed);
                continue;
            }
            m_packed.spoil();
            noteKept(*found.whole);
        }
        if (last)
            m_packed.endSegment(last->begin);
        if (const TracePart *part = reader->part()) {
            m_parts.push_back(*part);
            m_parts.back().file = file.name;
        }
        if (ranks.empty()) // a file without records may state facts
            ranks[std::nullopt];
        for (auto &[rank, segments] : ranks) {
            noteOrderOfSteps(segments, file);
            add(*reader, rank, std::move(segments));
        }
        return {};
    }

    /// Steps are put in order before they are compared, so that a file in which they do not rise
    /// (one that a resumed run wrote on, one that was sorted or joined) compares as another would.
    void noteOrderOfSteps(const std::vector<TraceSegment> &ofRank, const TraceFile &file)
    {
        std::set<std::optional<std::int64_t>> seen;
        for (std::size_t i = 1; i < ofRank.size(); ++i) {
            const TraceSegment &before = ofRank[i - 1], &after = ofRank[i];
            seen.insert(before.iteration);
            if (before.iteration && after.iteration && *after.iteration < *before.iteration)
                note(Severity::Note, "step-order", file.name, after.begin.toText(),
                     "step " + std::to_string(*after.iteration) + " follows step "
                         + std::to_string(*before.iteration) + " (" + before.begin.toText() + ")"
                         + (seen.contains(after.iteration)
                                ? " and stands there again, as where a restarted run wrote on"
                                : "")
                         + "; compared is in rising order of steps");
        }
    }

    /// Names of the folder that may be the trace's, by what its dialect or its files are called.
    std::set<std::string> filesAlike() const
    {
        if (m_directory.empty())
            return {};
        std::set<std::string> endings;
        for (const std::string &name : m_names)
            endings.insert(fs::path(name).extension().string());
        return filesCalled(m_directory, [&](const std::string &name) {
            return m_reader.claimsBinary(name)
                || endings.count(fs::path(name).extension().string()) > 0;
        });
    }

    void noteKept(const TraceRecord &record)
    {
        const auto isKept = [](const Observation &each) { return each.payloadOffset.has_value(); };
        if (std::any_of(record.inputs.begin(), record.inputs.end(), isKept)
            || std::any_of(record.outputs.begin(), record.outputs.end(), isKept))
            m_kept.insert(record.iteration);
    }

    Status addKept(std::size_t stream, std::size_t segment, const std::stop_token &stop,
                   KeptTensors &tensors) const
    {
        const TraceSegment &own = m_streams[stream].segments[segment];
        const TraceFile &file = m_files[own.begin.file];
        const auto store = [&](const std::string &payload) {
            return m_reader.payloads(file, payload);
        };
        FP_TRY(const auto cursor, open(stream, segment));
        for (;;) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, m_names[own.begin.file], {}, "cancelled"};
            FP_TRY(const auto record, cursor->next());
            if (!record)
                return {};
            FP_CHECK(tensors.add(*record, m_streams[stream].coordinate, store));
        }
    }

    /// Whether the files are all there (rule M20), as far as they say which there are.
    void takeParts()
    {
        TraceWholeness whole = checkWholeness(std::exchange(m_parts, {}));
        m_complete = m_complete && whole.complete;
        std::move(whole.diagnostics.begin(), whole.diagnostics.end(),
                  std::back_inserter(m_diagnostics));
    }

    void add(const TraceReader &reader, std::optional<std::int64_t> rank,
             std::vector<TraceSegment> segments)
    {
        TraceCoordinate coordinate = reader.coordinate();
        if (rank)
            coordinate.rank = rank;
        // A stream with axes is named by these alone: the global rank is for information.
        const Key key{coordinate.axes,
                      coordinate.axes.empty() ? coordinate.rank : std::optional<std::int64_t>()};
        if (segments.empty() && reader.facts().empty())
            return;
        TraceStream &stream = m_byRank[key];
        stream.coordinate = coordinate;
        stream.segments.insert(stream.segments.end(), segments.begin(), segments.end());
        for (const TraceFact &fact : reader.facts()) {
            if (std::find(stream.facts.begin(), stream.facts.end(), fact) == stream.facts.end())
                stream.facts.push_back(fact);
        }
    }

    void takeDiagnostics(TraceReader &reader, const TraceFile &file)
    {
        for (Diagnostic &diagnostic : reader.takeDiagnostics())
            note(diagnostic.severity, std::move(diagnostic.code), file.name,
                 std::move(diagnostic.place), std::move(diagnostic.text));
    }

    /// The first few of a kind in a file are said; of all others their number, at the end.
    void note(Severity severity, std::string code, const std::string &file, std::string place,
              std::string text)
    {
        constexpr std::uint64_t Shown = 5;
        m_complete = m_complete && severity == Severity::Note;
        const std::uint64_t count = ++m_counts[{code, file}];
        if (count > Shown + 1)
            return;
        if (count == Shown + 1)
            text = "and more of this kind";
        m_diagnostics.push_back(
            {severity, std::move(code), file, std::move(place), std::move(text)});
    }

    std::string m_dialect;
    std::shared_ptr<const TraceDialect> m_mapped; ///< keeps m_reader, where a sheet made it
    const TraceDialect &m_reader;
    std::vector<TraceFile> m_files;
    fs::path m_directory;          ///< that was looked through; empty for one file
    std::set<std::string> m_alike; ///< of that folder, when it was looked through
    std::vector<std::string> m_names;
    std::vector<TracePart> m_parts;               ///< until they were checked
    std::set<std::optional<std::int64_t>> m_kept; ///< iterations of which tensors are there
    std::map<Key, TraceStream> m_byRank;
    std::vector<TraceStream> m_streams;
    std::map<std::pair<std::string, std::string>, std::uint64_t> m_counts;
    std::size_t m_segments = 0;
    PackedSegments m_packed;
    Diagnostics m_diagnostics;
    bool m_complete = true;
};

} // namespace

Result<std::shared_ptr<const Trace>> indexTrace(TraceFiles files, std::stop_token stop)
{
    if (!files.dialect)
        return Error{ErrorCode::NotFound, {}, {}, "holds no trace"};
    auto trace = std::make_shared<IndexedTrace>(std::move(files));
    FP_CHECK(trace->index(stop));
    return std::shared_ptr<const Trace>(std::move(trace));
}

} // namespace forkpoint
