// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/inflate_source.h"

#include <algorithm>

#include <zlib.h>

namespace forkpoint {

namespace {

constexpr std::size_t InputBytes = std::size_t(1) << 16;
constexpr std::size_t StepBytes = std::size_t(1) << 20;
// A saved state is about 40 KiB (the window and zlib's tables).
constexpr std::uint64_t FirstDistance = std::uint64_t(4) << 20;
constexpr std::size_t MaxSaved = 256;
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
};

InflateSource::InflateSource(std::shared_ptr<const ByteSource> compressed, std::uint64_t size,
                             std::string name)
    : m_compressed(std::move(compressed)),
      m_size(size),
      m_name(std::move(name)),
      m_distance(FirstDistance)
{
}

InflateSource::~InflateSource() = default;

Error InflateSource::failure(ErrorCode code, std::string text) const
{
    const std::uint64_t place = m_stream ? m_stream->produced : 0;
    return {code, m_name, "decoded byte " + std::to_string(place), std::move(text)};
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
    Status status = seek(offset);
    if (status.ok())
        status = decode(out);
    if (status.ok() && offset + out.size() == m_size)
        status = checkEnd();
    if (!status.ok())
        m_stream.reset(); // a decoder that failed is not asked again
    return status;
}

Status InflateSource::seek(std::uint64_t offset) const
{
    const auto after = std::upper_bound(
        m_saved.begin(), m_saved.end(), offset,
        [](std::uint64_t position, const auto &saved) { return position < saved->produced; });
    const bool usable = m_stream && m_stream->produced <= offset;
    const bool better =
        after != m_saved.begin() && (!usable || (*std::prev(after))->produced > m_stream->produced);
    if (better)
        m_stream = std::make_unique<Stream>(**std::prev(after));
    else if (!usable)
        m_stream = std::make_unique<Stream>();
    if (!m_stream->valid)
        return failure(ErrorCode::Io, "zlib cannot make a decoder");

    std::vector<std::byte> skipped;
    while (m_stream->produced < offset) {
        skipped.resize(
            std::size_t(std::min<std::uint64_t>(StepBytes, offset - m_stream->produced)));
        FP_CHECK(decode(skipped));
    }
    return {};
}

Status InflateSource::decode(MutableByteView out) const
{
    while (!out.empty()) {
        std::size_t produced = 0;
        FP_CHECK(step(out.first(std::min(out.size(), StepBytes)), produced));
        out = out.subspan(produced);
        if (m_stream->ended && !out.empty()) {
            return failure(ErrorCode::Truncated,
                           "deflate stream ends here, announced are " + std::to_string(m_size)
                               + " bytes");
        }
        saveState();
    }
    return {};
}

/// One call of zlib, with input if it has none.
Status InflateSource::step(MutableByteView out, std::size_t &produced) const
{
    Stream &stream = *m_stream;
    if (stream.z.avail_in == 0)
        FP_CHECK(refill());
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
        return failure(ErrorCode::Truncated, "deflate stream is cut here");
    }
    const char *reason = stream.z.msg != nullptr ? stream.z.msg : "bad data";
    return failure(ErrorCode::Malformed,
                   "is no deflate stream from here on: " + std::string(reason));
}

Status InflateSource::refill() const
{
    const std::uint64_t left = m_compressed->size() - m_stream->consumed;
    m_input.resize(std::size_t(std::min<std::uint64_t>(InputBytes, left)));
    FP_CHECK(m_compressed->read(m_stream->consumed, m_input));
    m_stream->z.next_in = zlibPointer(m_input.data());
    m_stream->z.avail_in = uInt(m_input.size());
    return {};
}

/// After the last announced byte: the stream must end without another one.
Status InflateSource::checkEnd() const
{
    std::byte extra{};
    while (!m_stream->ended) {
        std::size_t produced = 0;
        FP_CHECK(step({&extra, 1}, produced));
        if (produced > 0) {
            return failure(ErrorCode::Mismatch,
                           "deflate stream goes on, announced are " + std::to_string(m_size)
                               + " bytes");
        }
    }
    return {};
}

void InflateSource::saveState() const
{
    const std::uint64_t last = m_saved.empty() ? 0 : m_saved.back()->produced;
    if (m_stream->produced < last + m_distance)
        return;
    auto copy = std::make_unique<Stream>(*m_stream);
    if (copy->valid)
        m_saved.push_back(std::move(copy));
    if (m_saved.size() < MaxSaved)
        return;
    for (std::size_t i = 0; i < MaxSaved / 2; ++i)
        m_saved[i] = std::move(m_saved[2 * i + 1]);
    m_saved.resize(MaxSaved / 2);
    m_distance *= 2;
}

} // namespace forkpoint
