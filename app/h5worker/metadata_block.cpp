// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/metadata_block.h"

#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/parent_file.h"

#include <bit>

namespace forkpoint {

namespace {

/// A page of an array may have 2^31 entries in theory.
constexpr std::uint64_t MostBlockBytes = std::uint64_t(1) << 28;
constexpr std::size_t ChecksumBytes = 4;

Error malformed(std::uint64_t address, const std::string &what)
{
    return {ErrorCode::Malformed, {}, {}, "the block at byte " + std::to_string(address) + what};
}

MetadataWidths widths;

} // namespace

const MetadataWidths &metadataWidths()
{
    return widths;
}

void setMetadataWidths(MetadataWidths other)
{
    widths = other;
}

Result<std::vector<std::byte>> readMetadataPage(std::uint64_t address, std::uint64_t size)
{
    if (size < ChecksumBytes || size > MostBlockBytes)
        return malformed(address, " cannot have " + std::to_string(size) + " bytes");
    std::vector<std::byte> bytes(size);
    if (!readParentFile(address, bytes))
        return malformed(address, " lies outside of the file");
    const std::size_t end = size - ChecksumBytes;
    if (metadataChecksum(ByteView(bytes).first(end)) != loadLittle<std::uint32_t>(&bytes[end]))
        return malformed(address, " has another checksum than it says");
    bytes.resize(end);
    return bytes;
}

Result<std::vector<std::byte>> readMetadataBlock(std::uint64_t address, std::uint64_t size,
                                                 std::string_view signature)
{
    FP_TRY(auto bytes, readMetadataPage(address, size));
    const ByteView view(bytes);
    const bool isOne = view.size() > signature.size()
        && asText(view.first(signature.size())) == signature
        && view[signature.size()] == std::byte(0);
    if (isOne)
        return bytes;
    return malformed(address, " is no '" + std::string(signature) + "' of version 0");
}

std::uint64_t MetadataNumbers::next(std::size_t size)
{
    const std::size_t from = m_at;
    skip(size);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size && m_isWhole; ++i)
        number |= std::uint64_t(m_bytes[from + i]) << (8 * i);
    return number;
}

std::uint64_t MetadataNumbers::nextAddress()
{
    const std::size_t width = metadataWidths().address;
    const std::uint64_t address = next(width);
    return address == UndefinedAddress >> (64 - 8 * width) ? UndefinedAddress : address;
}

void MetadataNumbers::skip(std::size_t size)
{
    m_isWhole = m_isWhole && size <= m_bytes.size() - m_at;
    m_at = m_isWhole ? m_at + size : m_bytes.size();
}

std::size_t bytesToHold(std::uint64_t most)
{
    return std::size_t(std::bit_width(most) + 7) / 8;
}

} // namespace forkpoint
