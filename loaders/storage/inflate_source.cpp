// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/inflate_source.h"

#include "loaders/storage/read_watch.h"

#include <algorithm>
#include <atomic>

#include <zlib.h>

namespace forkpoint {

namespace {

constexpr std::size_t InputBytes = std::size_t(1) << 16;
constexpr std::size_t StepBytes = std::size_t(1) << 20;
// A saved state is about 40 KiB (the window and zlib's tables).
constexpr std::uint64_t FirstDistance = std::uint64_t(4) << 20;
constexpr std::size_t MaxSaved = 256;
// Of all sources together.
constexpr std::size_t MaxDecoders = 128;  ///< kept at their places, 100 KiB each
constexpr std::size_t MaxAllSaved = 4096; ///< saved states
constexpr int RawDeflate = -MAX_WBITS;

Bytef *zlibPointer(const std::byte *data)
{
    return reinterpret_cast<Bytef *>(const_cast<std::byte *>(data)); // next_in lacks const
}

} // namespace

/// A decoder and how far it is. zlib points back to its z_stream: it must not move.
struct InflateSource::Stream
{
    Stream() { valid = inflateInit2(&z, RawDeflate) == Z_OK; }
    explicit Stream(Stream &other) : consumed(other.consumed), produced(other.produced)
    {
        valid = inflateCopy(&z, &other.z) == Z_OK;
        z.avail_in = 0; // its input buffer is not part of the state
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream()
    {
        if (valid)
            inflateEnd(&z);
    }

    z_stream z = {};
    bool valid = false;
    bool ended = false;
    std::uint64_t consumed = 0; ///< compressed bytes
    std::uint64_t produced = 0; ///< decoded bytes
    std::vector<std::byte> input;
};

/// The decoders of all sources that wait at their places, the one used last at the end.
class InflateSource::Decoders
{
public:
    /// The decoder of `owner` that is nearest before `offset` and not before `from`, if any.
    std::unique_ptr<Stream> take(const InflateSource *owner, std::uint64_t from,
                                 std::uint64_t offset)
    {
        const std::scoped_lock lock(m_mutex);
        auto best = m_waiting.end();
        for (auto each = m_waiting.begin(); each != m_waiting.end(); ++each) {
            const std::uint64_t at = each->stream->produced;
            const bool usable = each->owner == owner && at >= from && at <= offset;
            if (usable && (best == m_waiting.end() || at > best->stream->produced))
                best = each;
        }
        if (best == m_waiting.end())
            return nullptr;
        std::unique_ptr<Stream> stream = std::move(best->stream);
        m_waiting.erase(best);
        return stream;
    }
    void keep(const InflateSource *owner, std::unique_ptr<Stream> stream)
    {
        const std::scoped_lock lock(m_mutex);
        if (m_waiting.size() == MaxDecoders)
            m_waiting.erase(m_waiting.begin());
        m_waiting.push_back({owner, std::move(stream)});
    }
    void drop(const InflateSource *owner)
    {
        const std::scoped_lock lock(m_mutex);
        std::erase_if(m_waiting, [owner](const Waiting &each) { return each.owner == owner; });
    }

    std::atomic<std::size_t> saved = 0;

private:
    struct Waiting
    {
        const InflateSource *owner;
        std::unique_ptr<Stream> stream;
    };
    std::mutex m_mutex;
    std::vector<Waiting> m_waiting;
};

InflateSource::Decoders &InflateSource::decoders()
{
    static Decoders all;
    return all;
}

InflateSource::InflateSource(std::shared_ptr<const ByteSource> compressed, std::uint64_t size,
                             std::string name)
    : m_compressed(std::move(compressed)),
      m_size(size),
      m_name(std::move(name)),
      m_distance(FirstDistance)
{
}

InflateSource::~InflateSource()
{
    decoders().drop(this);
    decoders().saved -= m_saved.size();
}

Error InflateSource::failure(const Stream &stream, ErrorCode code, std::string text) const
{
    return {code, m_name, "decoded byte " + std::to_string(stream.produced), std::move(text)};
}

Status InflateSource::read(std::uint64_t offset, MutableByteView out) const
{
    if (offset > m_size || out.size() > m_size - offset) {
        return Error{ErrorCode::Truncated, m_name, "byte " + std::to_string(offset),
                     "needs " + std::to_string(out.size()) + " bytes from here, ends at byte "
                         + std::to_string(m_size)};
    }
    if (out.empty())
        return {};
    const std::scoped_lock lock(m_mutex);
    const NeededHere needed;
    FP_TRY(std::unique_ptr<Stream> stream, takeStream(offset));
    FP_CHECK(seek(*stream, offset)); // a decoder that failed is not asked again
    FP_CHECK(decode(*stream, out));
    if (offset + out.size() == m_size)
        return checkEnd(*stream); // and no read continues from here
    decoders().keep(this, std::move(stream));
    return {};
}

/// The decoder from which the way to `offset` is shortest: a kept one, a saved state, a new one.
Result<std::unique_ptr<InflateSource::Stream>> InflateSource::takeStream(std::uint64_t offset) const
{
    const auto after = std::upper_bound(
        m_saved.begin(), m_saved.end(), offset,
        [](std::uint64_t position, const auto &saved) { return position < saved->produced; });
    const std::uint64_t saved = after == m_saved.begin() ? 0 : (*std::prev(after))->produced;
    std::unique_ptr<Stream> stream = decoders().take(this, saved, offset);
    if (!stream) {
        stream = after == m_saved.begin() ? std::make_unique<Stream>()
                                          : std::make_unique<Stream>(**std::prev(after));
    }
    if (!stream->valid)
        return failure(*stream, ErrorCode::Io, "zlib cannot make a decoder");
    return stream;
}

Status InflateSource::seek(Stream &stream, std::uint64_t offset) const
{
    std::vector<std::byte> skipped;
    while (stream.produced < offset) {
        skipped.resize(std::size_t(std::min<std::uint64_t>(StepBytes, offset - stream.produced)));
        FP_CHECK(decode(stream, skipped));
    }
    return {};
}

Status InflateSource::decode(Stream &stream, MutableByteView out) const
{
    while (!out.empty()) {
        std::size_t produced = 0;
        FP_CHECK(step(stream, out.first(std::min(out.size(), StepBytes)), produced));
        out = out.subspan(produced);
        if (stream.ended && !out.empty()) {
            return failure(stream, ErrorCode::Truncated,
                           "deflate stream ends here, announced are " + std::to_string(m_size)
                               + " bytes");
        }
        saveState(stream);
    }
    return {};
}

/// One call of zlib, with input if it has none.
Status InflateSource::step(Stream &stream, MutableByteView out, std::size_t &produced) const
{
    if (stream.z.avail_in == 0)
        FP_CHECK(refill(stream));
    const uInt given = stream.z.avail_in;
    stream.z.next_out = zlibPointer(out.data());
    stream.z.avail_out = uInt(out.size());
    const int result = inflate(&stream.z, Z_NO_FLUSH);
    produced = out.size() - stream.z.avail_out;
    stream.consumed += given - stream.z.avail_in;
    stream.produced += produced;
    if (result == Z_STREAM_END) {
        stream.ended = true;
        return {};
    }
    // Z_BUF_ERROR: no progress was possible; without input left the stream is cut.
    const bool starved = produced == 0 && given == 0 && !out.empty();
    if (result == Z_BUF_ERROR || result == Z_OK) {
        if (!starved)
            return {};
        return failure(stream, ErrorCode::Truncated, "deflate stream is cut here");
    }
    const char *reason = stream.z.msg != nullptr ? stream.z.msg : "bad data";
    return failure(stream, ErrorCode::Malformed,
                   "is no deflate stream from here on: " + std::string(reason));
}

Status InflateSource::refill(Stream &stream) const
{
    const std::uint64_t left = m_compressed->size() - stream.consumed;
    stream.input.resize(std::size_t(std::min<std::uint64_t>(InputBytes, left)));
    FP_CHECK(m_compressed->read(stream.consumed, stream.input));
    stream.z.next_in = zlibPointer(stream.input.data());
    stream.z.avail_in = uInt(stream.input.size());
    return {};
}

/// After the last announced byte: the stream must end without another one.
Status InflateSource::checkEnd(Stream &stream) const
{
    std::byte extra{};
    while (!stream.ended) {
        std::size_t produced = 0;
        FP_CHECK(step(stream, {&extra, 1}, produced));
        if (produced > 0) {
            return failure(stream, ErrorCode::Mismatch,
                           "deflate stream goes on, announced are " + std::to_string(m_size)
                               + " bytes");
        }
    }
    return {};
}

void InflateSource::saveState(Stream &stream) const
{
    const std::uint64_t last = m_saved.empty() ? 0 : m_saved.back()->produced;
    if (stream.produced < last + m_distance)
        return;
    if (decoders().saved >= MaxAllSaved)
        return;
    auto copy = std::make_unique<Stream>(stream);
    if (!copy->valid)
        return;
    m_saved.push_back(std::move(copy));
    ++decoders().saved;
    if (m_saved.size() < MaxSaved)
        return;
    for (std::size_t i = 0; i < MaxSaved / 2; ++i)
        m_saved[i] = std::move(m_saved[2 * i + 1]);
    m_saved.resize(MaxSaved / 2);
    decoders().saved -= MaxSaved / 2;
    m_distance *= 2;
}

} // namespace forkpoint
