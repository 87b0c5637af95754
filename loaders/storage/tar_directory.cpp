// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/tar_directory.h"

#include "loaders/limits.h"
#include "loaders/storage/inflate_source.h"
#include "model/bytes.h"
#include "model/key_path.h"

#include <algorithm>
#include <array>
#include <optional>

namespace forkpoint {

namespace {

constexpr std::size_t BlockBytes = 512;
/// Long names and pax records of one member.
constexpr std::uint64_t ExtraBytes = std::uint64_t(1) << 20;
/// deflate can shrink by no more than this.
constexpr std::uint64_t DeflateRatio = 1032;

using Block = std::array<std::byte, BlockBytes>;

std::string_view field(ByteView header, std::size_t at, std::size_t size)
{
    const std::string_view text = asText(header.subspan(at, size));
    return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> octal(std::string_view text)
{
    std::uint64_t value = 0;
    bool any = false;
    for (const char c : text) {
        if (c == ' ')
            continue;
        if (c < '0' || c > '7' || value >> 60 != 0)
            return std::nullopt;
        value = value * 8 + std::uint64_t(c - '0');
        any = true;
    }
    return any ? std::optional(value) : std::nullopt;
}

/// Octal digits, or a big-endian number behind a byte of 0x80 where these do not suffice.
std::optional<std::uint64_t> sizeField(ByteView header)
{
    const ByteView raw = header.subspan(124, 12);
    if (raw[0] != std::byte(0x80))
        return octal(field(header, 124, 12));
    std::uint64_t value = 0;
    for (std::size_t i = 1; i < raw.size(); ++i) {
        if (value >> 56 != 0)
            return std::nullopt;
        value = value << 8 | std::uint64_t(raw[i]);
    }
    return value;
}

/// Sum of the header's bytes, its own field counted as spaces; some writers summed signed bytes.
bool hasChecksum(const Block &header)
{
    const auto stated = octal(field(header, 148, 8));
    std::uint64_t sum = 0;
    std::int64_t signedSum = 0;
    for (std::size_t i = 0; i < BlockBytes; ++i) {
        const bool isOwn = i >= 148 && i < 156;
        const auto value = isOwn ? std::uint8_t(' ') : std::uint8_t(header[i]);
        sum += value;
        signedSum += std::int8_t(value);
    }
    return stated && (*stated == sum || std::int64_t(*stated) == signedSum);
}

bool isZero(const Block &block)
{
    return std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte(0); });
}

TarMember::Kind kindOf(char type)
{
    switch (type) {
    case '\0':
    case '0':
    case '7': return TarMember::Kind::File;
    case '1':
    case '2': return TarMember::Kind::Link;
    case '5': return TarMember::Kind::Directory;
    default: return TarMember::Kind::Special;
    }
}

/// "27 path=a/b\n": the value of `key`.
std::optional<std::string> paxValue(std::string_view records, std::string_view key)
{
    const std::string wanted = std::string(key) + "=";
    std::optional<std::string> value;
    while (!records.empty()) {
        const std::size_t space = records.find(' ');
        std::size_t length = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(space, 8) && i < records.size(); ++i)
            length = length * 10 + std::size_t(records[i] - '0');
        if (space == std::string_view::npos || length <= space + 1 || length > records.size())
            return value;
        std::string_view record = records.substr(space + 1, length - space - 2);
        if (record.starts_with(wanted))
            value = record.substr(wanted.size());
        records.remove_prefix(length);
    }
    return value;
}

class DirectoryReader
{
public:
    explicit DirectoryReader(const ByteSource &source) : m_source(source) {}

    Result<std::vector<TarMember>> read()
    {
        Block header{};
        while (m_source.size() - m_at >= BlockBytes) {
            FP_CHECK(m_source.read(m_at, header));
            if (isZero(header))
                break;
            FP_CHECK(readMember(header));
            if (m_members.size() > limits::TarMembers)
                return failure(ErrorCode::Limit, "holds more members than are looked at");
        }
        return std::move(m_members);
    }

private:
    Error failure(ErrorCode code, std::string text) const
    {
        return {code, m_source.name(), "byte " + std::to_string(m_at), std::move(text)};
    }

    Status readMember(const Block &header)
    {
        if (!hasChecksum(header))
            return failure(ErrorCode::Malformed, "is no header of a tar member");
        auto size = sizeField(header);
        const char type = char(header[156]);
        const bool isExtra = type == 'x' || type == 'g' || type == 'L' || type == 'K';
        if (m_size && !isExtra)
            size = std::exchange(m_size, std::nullopt);
        if (!size || *size > m_source.size() - m_at - BlockBytes) {
            return failure(ErrorCode::Truncated,
                           "a member is longer than the " + std::to_string(m_source.size() - m_at)
                               + " bytes that are left");
        }
        const std::uint64_t data = m_at + BlockBytes;
        if (isExtra)
            FP_CHECK(readExtra(type, data, *size));
        else
            m_members.push_back({nameOf(header), kindOf(type), data, *size});
        const std::uint64_t padded = (*size + BlockBytes - 1) / BlockBytes * BlockBytes;
        m_at = data + std::min(padded, m_source.size() - data);
        return {};
    }

    Status readExtra(char type, std::uint64_t data, std::uint64_t size)
    {
        FP_TRY(const auto bytes, readAll(m_source, data, size, ExtraBytes));
        const std::string_view text = asText(bytes);
        if (type == 'L')
            m_name = text.substr(0, text.find('\0'));
        if (type != 'x')
            return {};
        if (auto path = paxValue(text, "path"))
            m_name = std::move(path);
        const auto digits = paxValue(text, "size");
        if (!digits)
            return {};
        std::uint64_t value = 0;
        for (const char c : *digits) {
            if (c < '0' || c > '9' || value > (~std::uint64_t(0) - 9) / 10)
                return failure(ErrorCode::Malformed, "a pax size that is no number");
            value = value * 10 + std::uint64_t(c - '0');
        }
        m_size = value;
        return {};
    }

    std::string nameOf(const Block &header)
    {
        std::string name(field(header, 0, 100));
        const std::string prefix(field(header, 345, 155));
        if (asText(ByteView(header).subspan(257, 6)) == std::string_view("ustar\0", 6)
            && !prefix.empty())
            name = prefix + "/" + name;
        if (m_name)
            name = *std::exchange(m_name, std::nullopt);
        while (name.starts_with("./"))
            name = name.substr(2);
        return name;
    }

    const ByteSource &m_source;
    std::uint64_t m_at = 0;
    std::optional<std::string> m_name;   ///< of the next member
    std::optional<std::uint64_t> m_size; ///< of the next member
    std::vector<TarMember> m_members;
};

} // namespace

bool isTar(ByteView head)
{
    return head.size() >= BlockBytes && asText(head.subspan(257, 5)) == "ustar";
}

Result<std::vector<TarMember>> readTarDirectory(const ByteSource &source)
{
    return DirectoryReader(source).read();
}

bool isGzip(ByteView head)
{
    return head.size() >= 3 && head[0] == std::byte(0x1f) && head[1] == std::byte(0x8b)
        && head[2] == std::byte(8);
}

Result<std::uint64_t> gzipHeaderSize(const ByteSource &source)
{
    // RFC 1952: ten bytes, then what the flags announce.
    constexpr std::uint64_t FixedBytes = 10, HeaderBytes = 1 << 16;
    const std::uint64_t size = std::min(source.size(), HeaderBytes);
    FP_TRY(const auto head, readAll(source, 0, size, HeaderBytes));
    const auto flag = [&](unsigned bit) { return (std::uint8_t(head[3]) >> bit & 1) != 0; };
    const Error cut{ErrorCode::Truncated, source.name(), {}, "its gzip header is cut"};
    if (head.size() < FixedBytes || !isGzip(head))
        return cut;
    std::size_t at = FixedBytes;
    if (flag(2)) {
        if (at + 2 > head.size())
            return cut;
        at += 2 + std::size_t(loadLittle<std::uint16_t>(head.data() + at));
    }
    for (const unsigned text : {3u, 4u}) { // name, comment
        for (bool more = flag(text); more; ++at) {
            if (at >= head.size())
                return cut;
            more = head[at] != std::byte(0);
        }
    }
    at += flag(1) ? 2 : 0;
    return at > source.size() ? Result<std::uint64_t>(cut) : std::uint64_t(at);
}

Result<std::shared_ptr<const ByteSource>> openGzip(std::shared_ptr<const ByteSource> source)
{
    // The header, then deflate, then eight bytes.
    constexpr std::uint64_t TrailerBytes = 8;
    FP_TRY(const std::uint64_t at, gzipHeaderSize(*source));
    if (TrailerBytes > source->size() - at)
        return Error{ErrorCode::Truncated, source->name(), {}, "its gzip header is cut"};
    const std::uint64_t length = source->size() - at - TrailerBytes;
    const std::string name = source->name();
    FP_TRY(auto deflated, WindowSource::make(std::move(source), at, length, name));
    const auto most = checkedMul(length + 1, DeflateRatio);
    return std::shared_ptr<const ByteSource>(std::make_shared<InflateSource>(
        std::move(deflated), most.value_or(~std::uint64_t(0) >> 1), name));
}

} // namespace forkpoint
