// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/gzip_source.h"

#include "loaders/limits.h"
#include "loaders/storage/inflate_source.h"
#include "loaders/storage/tar_directory.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <zlib.h>

namespace forkpoint {

namespace {

constexpr std::size_t BlockBytes = std::size_t(1) << 16;
constexpr int GzipWindow = MAX_WBITS + 16; ///< zlib's way of asking for gzip alone
constexpr std::uint64_t TrailerBytes = 8;
/// Members of one file: as many as the largest has if they decode to 32 KiB each, half of what bgzip
/// makes. 40 bytes each are kept.
constexpr std::size_t MostMembers = limits::GzipBytes >> 15;
/// Members whose decoders are kept for the next read: readers of several places of one file.
constexpr std::size_t OpenMembers = 4;

/// Decodes one member from its first byte on, block by block.
class MemberDecoder
{
public:
    MemberDecoder(const ByteSource &file, std::uint64_t begin) : m_file(file), m_next(begin)
    {
        m_valid = inflateInit2(&m_z, GzipWindow) == Z_OK;
    }
    MemberDecoder(const MemberDecoder &) = delete;
    MemberDecoder &operator=(const MemberDecoder &) = delete;
    ~MemberDecoder()
    {
        if (m_valid)
            inflateEnd(&m_z);
    }

    /// Fills some of `out`; 0 at the end of the member and where it is cut. Broken: Malformed.
    Result<std::size_t> decode(MutableByteView out)
    {
        if (!m_valid)
            return Error{ErrorCode::Io, m_file.name(), {}, "zlib cannot make a decoder"};
        while (!m_ended) {
            bool more = true;
            if (m_z.avail_in == 0) {
                FP_TRY(more, refill());
            }
            m_z.next_out = reinterpret_cast<Bytef *>(out.data());
            m_z.avail_out = uInt(out.size());
            const int state = inflate(&m_z, Z_NO_FLUSH);
            const std::size_t produced = out.size() - m_z.avail_out;
            m_decoded += produced;
            m_ended = state == Z_STREAM_END;
            if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
                return Error{ErrorCode::Malformed, m_file.name(),
                             "decoded byte " + std::to_string(m_decoded),
                             "is no gzip from here on"};
            if (produced > 0 || !more) // without input zlib may still have output to give
                return produced;
        }
        return std::size_t(0);
    }

    bool ended() const { return m_ended; }
    std::uint64_t decoded() const { return m_decoded; }
    std::uint64_t end() const { return m_next - m_z.avail_in; } ///< byte of the file

private:
    Result<bool> refill()
    {
        const std::uint64_t left = m_file.size() - m_next;
        if (left == 0)
            return false;
        m_input.resize(std::size_t(std::min<std::uint64_t>(BlockBytes, left)));
        FP_CHECK(m_file.read(m_next, m_input));
        m_next += m_input.size();
        m_z.next_in = reinterpret_cast<Bytef *>(m_input.data());
        m_z.avail_in = uInt(m_input.size());
        return true;
    }

    const ByteSource &m_file;
    std::uint64_t m_next; ///< of the file, not read yet
    std::uint64_t m_decoded = 0;
    std::vector<std::byte> m_input;
    z_stream m_z = {};
    bool m_valid = false, m_ended = false;
};

struct Member
{
    std::uint64_t begin = 0, end = 0;    ///< of its deflate stream, in the file
    std::uint64_t decoded = 0, size = 0; ///< its decoded bytes, among those of all members
    bool torn = false;
};

class GzipMembers final : public ByteSource
{
public:
    GzipMembers(std::shared_ptr<const ByteSource> compressed, std::vector<Member> members)
        : m_compressed(std::move(compressed)),
          m_members(std::move(members)),
          m_size(m_members.back().decoded + m_members.back().size)
    {
    }

    const std::string &name() const override { return m_compressed->name(); }
    std::uint64_t size() const override { return m_size; }
    Status unchanged() const override { return m_compressed->unchanged(); }
    std::optional<ByteOrigin> origin() const override
    {
        return derived(*m_compressed, "gzip " + std::to_string(m_size));
    }

    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        FP_CHECK(checkRange(name(), offset, out.size(), m_size));
        const auto behind = std::upper_bound(
            m_members.begin(), m_members.end(), offset,
            [](std::uint64_t position, const Member &each) { return position < each.decoded; });
        for (auto i = std::size_t(behind - m_members.begin()) - 1; !out.empty(); ++i) {
            const std::uint64_t within = offset - m_members[i].decoded;
            const auto part =
                std::size_t(std::min<std::uint64_t>(out.size(), m_members[i].size - within));
            if (part == 0)
                continue; // a member of nothing
            FP_TRY(const auto source, open(i));
            FP_CHECK(source->read(within, out.first(part)));
            out = out.subspan(part);
            offset += part;
        }
        return {};
    }

private:
    using Source = std::shared_ptr<const ByteSource>;

    Result<Source> open(std::size_t index) const
    {
        const std::scoped_lock lock(m_mutex);
        const auto found = std::find_if(m_open.begin(), m_open.end(),
                                        [&](const auto &each) { return each.first == index; });
        if (found != m_open.end()) {
            std::rotate(found, std::next(found), m_open.end());
            return m_open.back().second;
        }
        const Member &member = m_members[index];
        FP_TRY(auto window,
               WindowSource::make(m_compressed, member.begin, member.end - member.begin, name()));
        // A stream that was cut is read short of an end that would be looked for.
        Source source = std::make_shared<InflateSource>(
            std::move(window), member.size + (member.torn ? 1 : 0), name());
        if (m_open.size() == OpenMembers)
            m_open.erase(m_open.begin());
        m_open.emplace_back(index, source);
        return source;
    }

    std::shared_ptr<const ByteSource> m_compressed;
    std::vector<Member> m_members; ///< rising; at least one
    std::uint64_t m_size;
    mutable std::mutex m_mutex;                                 ///< guards what follows
    mutable std::vector<std::pair<std::size_t, Source>> m_open; ///< the one used last at the end
};

/// Whether zeros alone follow, as tapes and block devices leave them.
Result<bool> isPadding(const ByteSource &file, std::uint64_t from)
{
    std::vector<std::byte> block;
    for (; from < file.size(); from += block.size()) {
        block.resize(std::size_t(std::min<std::uint64_t>(BlockBytes, file.size() - from)));
        FP_CHECK(file.read(from, block));
        if (std::any_of(block.begin(), block.end(), [](std::byte b) { return b != std::byte{0}; }))
            return false;
    }
    return true;
}

/// Looks for the members of a file, one after the other.
class Measurement
{
public:
    Measurement(const ByteSource &file, const std::stop_token &stop) : m_file(file), m_stop(stop) {}

    Status run()
    {
        FP_CHECK(measure(0));
        while (!torn && !rest && m_end < m_file.size()) {
            FP_CHECK(checkBehind());
            if (rest)
                break;
            const Status status = measure(m_end);
            if (status.ok())
                continue;
            if (status.error().code != ErrorCode::Malformed
                && status.error().code != ErrorCode::Truncated)
                return status;
            rest = GzipFile::Rest{m_end,
                                  "the gzip member that begins here is damaged; it and what "
                                  "follows are not read",
                                  false};
        }
        return {};
    }

    std::vector<Member> members;
    bool torn = false;
    std::optional<GzipFile::Rest> rest;

private:
    Status checkBehind()
    {
        std::array<std::byte, 3> magic{};
        const auto head = MutableByteView(magic).first(
            std::size_t(std::min<std::uint64_t>(magic.size(), m_file.size() - m_end)));
        FP_CHECK(m_file.read(m_end, head));
        if (isGzip(head)) {
            if (members.size() == MostMembers)
                rest = GzipFile::Rest{m_end,
                                      "may have at most " + std::to_string(members.size())
                                          + " gzip members; what follows is not read",
                                      false};
            return {};
        }
        FP_TRY(const bool padding, isPadding(m_file, m_end));
        rest = GzipFile::Rest{m_end,
                              std::to_string(m_file.size() - m_end)
                                  + (padding ? " zero bytes follow the gzip stream"
                                             : " bytes that are no gzip follow its last "
                                               "member, and are not read"),
                              padding};
        return {};
    }

    Status measure(std::uint64_t begin)
    {
        FP_TRY(
            const auto window,
            WindowSource::make(std::shared_ptr<const ByteSource>(std::shared_ptr<void>(), &m_file),
                               begin, m_file.size() - begin, m_file.name()));
        FP_TRY(const std::uint64_t header, gzipHeaderSize(*window));
        MemberDecoder decoder(m_file, begin);
        std::vector<std::byte> output(BlockBytes);
        for (std::size_t produced = 1; produced > 0;) {
            if (m_stop.stop_requested())
                return Error{ErrorCode::Cancelled, m_file.name(), {}, "cancelled"};
            FP_TRY(produced, decoder.decode(output));
            if (m_decoded + decoder.decoded() > limits::GzipBytes)
                return Error{ErrorCode::Limit,
                             m_file.name(),
                             {},
                             "may decode to at most " + std::to_string(limits::GzipBytes)
                                 + " bytes"};
        }
        torn = !decoder.ended();
        m_end = decoder.end();
        members.push_back({begin + header, torn ? m_file.size() : m_end - TrailerBytes, m_decoded,
                           decoder.decoded(), torn});
        m_decoded += decoder.decoded();
        return {};
    }

    const ByteSource &m_file;
    const std::stop_token &m_stop;
    std::uint64_t m_end = 0, m_decoded = 0; ///< of the members so far
};

} // namespace

Result<GzipFile> openMeasuredGzip(std::shared_ptr<const ByteSource> compressed,
                                  const std::stop_token &stop)
{
    Measurement found(*compressed, stop);
    FP_CHECK(found.run());
    return GzipFile{std::make_shared<GzipMembers>(std::move(compressed), std::move(found.members)),
                    found.torn, std::move(found.rest)};
}

Result<std::vector<std::byte>> gzipHead(const ByteSource &compressed, std::size_t most)
{
    std::vector<std::byte> head(most);
    std::size_t filled = 0;
    auto decoder = std::make_unique<MemberDecoder>(compressed, 0);
    while (filled < most) {
        const auto produced = decoder->decode(MutableByteView(head).subspan(filled));
        if (!produced.ok() && produced.error().code != ErrorCode::Malformed)
            return produced.error();
        if (!produced.ok())
            break;
        filled += *produced;
        if (*produced > 0)
            continue;
        if (!decoder->ended() || decoder->end() == compressed.size())
            break;
        decoder = std::make_unique<MemberDecoder>(compressed, decoder->end());
    }
    head.resize(filled);
    return head;
}

} // namespace forkpoint
