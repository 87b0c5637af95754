// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A block of that many bytes of the parent's file, the last four of which are its checksum; Malformed
/// with its place where it does not begin with `signature` and version 0, or its checksum is another.
/// What comes back is without the checksum.
Result<std::vector<std::byte>> readMetadataBlock(std::uint64_t address, std::uint64_t size,
                                                 std::string_view signature);

/// The same of what has a checksum alone.
Result<std::vector<std::byte>> readMetadataPage(std::uint64_t address, std::uint64_t size);

/// Bytes of addresses and of lengths in a file, as its superblock says: 2, 4 or 8.
struct MetadataWidths
{
    std::size_t address = 8, length = 8;
};
/// Of the one file that this process looks through.
const MetadataWidths &metadataWidths();
void setMetadataWidths(MetadataWidths widths);

/// An address that is none, however wide.
inline constexpr std::uint64_t UndefinedAddress = ~std::uint64_t(0);

/// Numbers of a block, one after the other; behind its end they are 0, and isWhole() is false.
class MetadataNumbers
{
public:
    explicit MetadataNumbers(ByteView bytes, std::size_t at = 0)
        : m_bytes(bytes),
          m_at(std::min(at, bytes.size())),
          m_isWhole(at <= bytes.size())
    {
    }

    std::uint64_t next(std::size_t size); ///< little-endian, of 1 to 8 bytes
    std::uint64_t nextAddress();
    std::uint64_t nextLength() { return next(metadataWidths().length); }
    void skip(std::size_t size);
    std::size_t at() const { return m_at; }
    bool isWhole() const { return m_isWhole; }

private:
    ByteView m_bytes;
    std::size_t m_at;
    bool m_isWhole;
};

/// Bytes that hold any number up to `most`.
std::size_t bytesToHold(std::uint64_t most);

} // namespace forkpoint
