// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_client.h"

#include "loaders/hdf5/chunk_filters.h"
#include "loaders/hdf5/hdf5_protocol.h"
#include "loaders/hdf5/platform_worker.h"
#include "loaders/limits.h"
#include "model/key_path.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char *WorkerName = "forkpoint-h5worker";
/// How often a request to stop is looked at.
constexpr milliseconds Slice{100};

/// What the fill value must not stand for.
void giveUp(Hdf5Dataset &dataset, ErrorCode code, std::string why)
{
    dataset.layout = Hdf5Dataset::Layout::Unreadable;
    dataset.problemCode = code;
    dataset.problem = std::move(why);
}

/// "10 s", "300 ms"
std::string inSeconds(milliseconds time)
{
    const bool isWhole = time.count() % 1000 == 0;
    return isWhole ? std::to_string(time.count() / 1000) + " s"
                   : std::to_string(time.count()) + " ms";
}

std::string joined(const std::vector<std::string> &path)
{
    std::string text;
    for (const std::string &name : path)
        text += (text.empty() ? "" : "/") + name;
    return escapeInvalidUtf8(text);
}

class Conversation
{
public:
    Conversation(WorkerProcess &worker, const ByteSource &source, const Hdf5WorkerOptions &options,
                 std::stop_token stop)
        : m_worker(worker),
          m_source(source),
          m_options(options),
          m_stop(std::move(stop)),
          m_deadline(Clock::now() + options.patience)
    {
    }

    /// Until the worker has told everything.
    Status hold()
    {
        send(hdf5Frame(Hdf5Open{Hdf5ProtocolVersion, m_source.size(), m_options.memoryBytes,
                                m_options.cpuSeconds}));
        while (!m_ended) {
            FP_TRY(const Hdf5Message kind, receive());
            FP_CHECK(take(kind));
        }
        return {};
    }

    Hdf5Contents contents;
    bool chunksMayLack = false; ///< of the last dataset

private:
    Error lost(ErrorCode code, std::string text) const
    {
        return {code, m_source.name(), {}, "the HDF5 worker " + std::move(text)};
    }

    /// One that is gone may have said something before: receiving tells.
    void send(const std::vector<std::byte> &frame) { m_worker.send(frame, m_options.patience); }

    Error impatient()
    {
        m_worker.end();
        const std::string where =
            m_lastPath.empty() ? std::string() : " after '" + joined(m_lastPath) + "'";
        return lost(ErrorCode::Limit,
                    "was stopped: it told of nothing new for " + inSeconds(m_options.patience)
                        + where + ", as where damage leads libhdf5 in a circle");
    }

    /// Fills all of `out`.
    Status fill(MutableByteView out)
    {
        while (!out.empty()) {
            if (m_stop.stop_requested())
                return Error{ErrorCode::Cancelled, m_source.name(), {}, "cancelled"};
            const auto left = std::chrono::ceil<milliseconds>(m_deadline - Clock::now());
            if (left <= milliseconds(0))
                return impatient();
            const auto waited = m_worker.wait(std::min(Slice, left));
            if (waited == WorkerProcess::Wait::TimedOut)
                continue;
            const std::size_t got =
                waited == WorkerProcess::Wait::Ready ? m_worker.receive(out) : 0;
            if (got == 0)
                return lost(ErrorCode::Malformed, m_worker.end());
            out = out.subspan(got);
        }
        return {};
    }

    Result<Hdf5Message> receive()
    {
        std::array<std::byte, Hdf5FrameHeader> bytes;
        FP_CHECK(fill(bytes));
        FP_TRY(const Hdf5FrameHead head, parseHdf5FrameHead(bytes));
        m_payload.resize(head.size);
        FP_CHECK(fill(m_payload));
        return head.kind;
    }

    Status take(Hdf5Message kind)
    {
        if (kind == Hdf5Message::Read)
            return serve();
        if (kind == Hdf5Message::Decode)
            return serveDecoded();
        m_deadline = Clock::now() + m_options.patience;
        switch (kind) {
        case Hdf5Message::Dataset: {
            FP_TRY(Hdf5Dataset dataset, parseHdf5Dataset(m_payload));
            m_lastPath = dataset.path;
            contents.datasets.push_back(std::move(dataset));
            chunksMayLack = contents.datasets.back().layout == Hdf5Dataset::Layout::Chunked;
            return countItem();
        }
        case Hdf5Message::Chunks: return takeChunks();
        case Hdf5Message::Value: {
            FP_TRY(Hdf5Value value, parseHdf5Value(m_payload));
            m_lastPath = value.path;
            contents.values.push_back(std::move(value));
            return countItem();
        }
        case Hdf5Message::Problem: {
            FP_TRY(Hdf5Problem problem, parseHdf5Problem(m_payload));
            // Of a dataset that was told of already: its chunks cannot be listed.
            const bool isLast = problem.isDataset && !contents.datasets.empty()
                && contents.datasets.back().path == problem.path;
            if (isLast) {
                giveUp(contents.datasets.back(), problem.code, std::move(problem.text));
                chunksMayLack = false;
            } else {
                contents.problems.push_back(std::move(problem));
            }
            return countItem();
        }
        case Hdf5Message::Refused:
            return Error{ErrorCode::Malformed,
                         m_source.name(),
                         {},
                         std::string(asText(m_payload).substr(0, limits::PrintedText))};
        case Hdf5Message::End: m_ended = true; return {};
        default: return lost(ErrorCode::Malformed, "sent a message of an unknown kind");
        }
    }

    Status serve()
    {
        FP_TRY(const Hdf5Read request, parseHdf5Read(m_payload));
        std::vector<std::byte> bytes(request.size);
        const auto before = Clock::now();
        const bool isRead = m_source.read(request.offset, bytes).ok();
        m_deadline += Clock::now() - before;
        if (isRead)
            send(hdf5Frame(Hdf5Message::Bytes, bytes));
        else
            send(hdf5Frame(Hdf5Message::Failed, {}));
        return {};
    }

    Status serveDecoded()
    {
        FP_TRY(const Hdf5Decode request, parseHdf5Decode(m_payload));
        m_decodedBytes += request.bytes + request.chunk.size;
        if (m_decodedBytes > Hdf5DecodedBytes)
            return lost(ErrorCode::Limit, "asked for more chunks of text than may be read");
        const auto before = Clock::now();
        const auto bytes = decoded(request);
        m_deadline += Clock::now() - before;
        if (bytes.ok())
            send(hdf5Frame(Hdf5Message::Bytes, *bytes));
        else
            send(hdf5Frame(Hdf5Message::Failed, asBytes(bytes.error().text)));
        return {};
    }

    Result<std::vector<std::byte>> decoded(const Hdf5Decode &request) const
    {
        std::vector<std::byte> stored(request.chunk.size);
        FP_CHECK(m_source.read(request.chunk.offset, stored));
        return undoFilters(request.filters, request.chunk.mask, std::move(stored), request.bytes);
    }

    Status takeChunks()
    {
        FP_TRY(const auto chunks, parseHdf5Chunks(m_payload));
        if (!chunksMayLack)
            return lost(ErrorCode::Malformed, "sent chunks of no dataset");
        chunksMayLack = !chunks.empty();
        auto &known = contents.datasets.back().chunks;
        for (const Hdf5Chunk &chunk : chunks) {
            if (!known.empty() && chunk.number <= known.back().number)
                return lost(ErrorCode::Malformed, "sent chunks out of order");
            known.push_back(chunk);
        }
        m_chunks += chunks.size();
        if (m_chunks > limits::Hdf5Chunks)
            return lost(ErrorCode::Limit, "found more chunks than may be listed");
        return {};
    }

    Status countItem()
    {
        m_bytes += m_payload.size();
        if (++m_items <= limits::Hdf5Items && m_bytes <= limits::Hdf5DescriptionBytes)
            return {};
        return lost(ErrorCode::Limit, "found more items than may be listed");
    }

    WorkerProcess &m_worker;
    const ByteSource &m_source;
    const Hdf5WorkerOptions &m_options;
    std::stop_token m_stop;
    Clock::time_point m_deadline; ///< of the next news; reading from storage moves it
    std::vector<std::byte> m_payload;
    std::vector<std::string> m_lastPath; ///< of what was told last
    std::uint64_t m_items = 0, m_bytes = 0, m_chunks = 0, m_decodedBytes = 0;
    bool m_ended = false;
};

} // namespace

std::string whyNoHdf5()
{
#ifdef FORKPOINT_HAVE_HDF5
    if (programBeside(WorkerName).empty())
        return std::string(WorkerName) + " must lie beside the program, is not there";
    return {};
#else
    return "needs libhdf5, which this build was made without";
#endif
}

Result<Hdf5Contents> describeHdf5(const ByteSource &source, const Hdf5WorkerOptions &options,
                                  std::stop_token stop)
{
    std::filesystem::path program = options.program;
    if (program.empty()) {
        if (const std::string why = whyNoHdf5(); !why.empty())
            return Error{ErrorCode::Unsupported, source.name(), {}, why};
        program = programBeside(WorkerName);
    }
    FP_TRY(WorkerProcess worker, WorkerProcess::start(program));
    Conversation conversation(worker, source, options, std::move(stop));
    Status status = conversation.hold();
    Hdf5Contents &contents = conversation.contents;
    if (status.ok())
        return std::move(contents);
    const bool isNothing = contents.datasets.empty() && contents.values.empty();
    if (isNothing || status.error().code == ErrorCode::Cancelled)
        return std::move(status).error().inFile(source.name());
    if (conversation.chunksMayLack)
        giveUp(contents.datasets.back(), status.error().code, status.error().text);
    contents.problems.push_back(
        {Severity::Error, status.error().code, {}, false, true, status.error().text});
    return std::move(contents);
}

} // namespace forkpoint
