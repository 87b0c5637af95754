// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/zstd_source.h"

#ifdef FORKPOINT_HAVE_ZSTD

#include "loaders/storage/read_watch.h"

#include <algorithm>
#include <mutex>

#include <zstd.h>

namespace forkpoint {

namespace {

constexpr std::size_t InputBytes = std::size_t(1) << 16;
constexpr std::size_t SkipBytes = std::size_t(1) << 16;
constexpr int WindowLog = 27;

/// A decoder and how far it is.
class Stream
{
public:
    Stream(const ByteSource &compressed, const std::string &name)
        : m_compressed(compressed),
          m_name(name),
          m_context(ZSTD_createDCtx()),
          m_input(InputBytes)
    {
        if (m_context)
            ZSTD_DCtx_setParameter(m_context, ZSTD_d_windowLogMax, WindowLog);
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() { ZSTD_freeDCtx(m_context); }

    std::uint64_t produced() const { return m_produced; }
    bool ended() const { return m_ended; }

    /// Decodes up to out.size() bytes; fewer only at the end of the frame.
    Result<std::size_t> decode(MutableByteView out)
    {
        if (!m_context)
            return failure(ErrorCode::Limit, "there is no memory for a decoder");
        ZSTD_outBuffer to{out.data(), out.size(), 0};
        while (to.pos < to.size && !m_ended) {
            if (m_in.pos == m_in.size)
                FP_CHECK(refill());
            const std::size_t left = ZSTD_decompressStream(m_context, &to, &m_in);
            if (ZSTD_isError(left))
                return failure(ErrorCode::Malformed, ZSTD_getErrorName(left));
            m_ended = left == 0;
        }
        m_produced += to.pos;
        if (m_ended && m_consumed - (m_in.size - m_in.pos) != m_compressed.size())
            return failure(ErrorCode::Malformed, "bytes behind the end of the frame");
        return to.pos;
    }

private:
    Status refill()
    {
        const std::uint64_t left = m_compressed.size() - m_consumed;
        if (left == 0)
            return failure(ErrorCode::Truncated, "the frame is cut");
        const std::size_t now = std::size_t(std::min<std::uint64_t>(left, InputBytes));
        FP_CHECK(m_compressed.read(m_consumed, MutableByteView(m_input).first(now)));
        m_consumed += now;
        m_in = {m_input.data(), now, 0};
        return {};
    }

    Error failure(ErrorCode code, std::string text) const
    {
        return {code, m_name, "decoded byte " + std::to_string(m_produced),
                "zstd: " + std::move(text)};
    }

    const ByteSource &m_compressed;
    const std::string &m_name;
    ZSTD_DCtx *m_context;
    std::vector<std::byte> m_input;
    ZSTD_inBuffer m_in{nullptr, 0, 0};
    std::uint64_t m_consumed = 0, m_produced = 0;
    bool m_ended = false;
};

class ZstdSource final : public ByteSource
{
public:
    ZstdSource(std::shared_ptr<const ByteSource> compressed, std::string name)
        : m_compressed(std::move(compressed)),
          m_name(std::move(name))
    {
    }

    Status measure(std::uint64_t cap)
    {
        Stream stream(*m_compressed, m_name);
        std::vector<std::byte> scratch(SkipBytes);
        while (!stream.ended()) {
            FP_TRY(const std::size_t got, stream.decode(scratch));
            if (stream.produced() > cap) {
                return Error{ErrorCode::Limit,
                             m_name,
                             {},
                             "zstd: may decode to at most " + std::to_string(cap) + " bytes"};
            }
            (void)got;
        }
        m_size = stream.produced();
        return {};
    }

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_size; }
    Status unchanged() const override { return m_compressed->unchanged(); }
    std::optional<ByteOrigin> origin() const override { return derived(*m_compressed, "zstd"); }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        if (offset > m_size || out.size() > m_size - offset) {
            return Error{ErrorCode::Truncated, m_name, "byte " + std::to_string(offset),
                         "ends at byte " + std::to_string(m_size)};
        }
        const std::scoped_lock lock(m_mutex);
        const NeededHere needed;
        if (!m_stream || m_stream->produced() > offset)
            m_stream = std::make_unique<Stream>(*m_compressed, m_name);
        Status status = readForward(offset, out);
        if (!status.ok())
            m_stream.reset(); // a decoder that failed is not asked again
        return status;
    }

private:
    Status readForward(std::uint64_t offset, MutableByteView out) const
    {
        std::vector<std::byte> scratch(SkipBytes);
        while (m_stream->produced() < offset) {
            const std::uint64_t left = offset - m_stream->produced();
            const auto now = MutableByteView(scratch).first(
                std::size_t(std::min<std::uint64_t>(left, SkipBytes)));
            FP_CHECK(decodeAll(now));
        }
        return decodeAll(out);
    }
    Status decodeAll(MutableByteView out) const
    {
        FP_TRY(const std::size_t got, m_stream->decode(out));
        if (got == out.size())
            return {};
        return Error{ErrorCode::Changed, m_name, {}, "decodes to fewer bytes than before"};
    }

    std::shared_ptr<const ByteSource> m_compressed;
    std::string m_name;
    std::uint64_t m_size = 0;
    mutable std::mutex m_mutex;
    mutable std::unique_ptr<Stream> m_stream;
};

} // namespace

std::string_view whyNoZstd()
{
    return {};
}

std::vector<std::byte> compressZstd(ByteView bytes)
{
    constexpr int Level = 3;
    std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), Level);
    frame.resize(ZSTD_isError(size) ? 0 : size);
    return frame;
}

Result<std::shared_ptr<const ByteSource>> openZstd(std::shared_ptr<const ByteSource> compressed,
                                                   std::uint64_t cap, std::string name)
{
    auto source = std::make_shared<ZstdSource>(std::move(compressed), std::move(name));
    FP_CHECK(source->measure(cap));
    return std::shared_ptr<const ByteSource>(std::move(source));
}

} // namespace forkpoint

#else

namespace forkpoint {

std::string_view whyNoZstd()
{
    return "needs zstd, which this build was made without";
}

std::vector<std::byte> compressZstd(ByteView)
{
    return {};
}

Result<std::shared_ptr<const ByteSource>> openZstd(std::shared_ptr<const ByteSource>, std::uint64_t,
                                                   std::string name)
{
    return Error{ErrorCode::Unsupported, std::move(name), {}, std::string(whyNoZstd())};
}

} // namespace forkpoint

#endif
