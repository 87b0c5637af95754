// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/found_chunks.h"

#include <string_view>

namespace forkpoint {

/// Which pages of an array were written: a bit each, the highest of a byte first.
struct WrittenPages
{
    ByteView bits;
    std::uint64_t first = 0; ///< bit of page 0

    bool has(std::uint64_t page) const;
};

/// What fixed and extensible arrays of filtered chunks have in common: blocks that name the header
/// they are of, and entries that stand row-major in the largest grid; where one dimension is
/// unlimited, that one comes first.
class ChunkArray
{
public:
    /// A block of an array begins with its signature, version and client, and the header's address.
    static constexpr std::size_t PrefixBytes = 6, ChecksumBytes = 4;
    static std::size_t blockHead() { return PrefixBytes + metadataWidths().address; }
    static constexpr std::uint64_t Undefined = UndefinedAddress;
    static constexpr std::uint64_t FilteredChunks = 1; ///< the client

    ChunkArray(std::uint64_t header, FoundChunks &found);

    /// Entries up to the last one that the present grid may have.
    std::uint64_t needed() const { return m_needed; }
    /// A block of this array that was not met before.
    Result<std::vector<std::byte>> readBlock(std::uint64_t address, std::uint64_t size,
                                             std::string_view signature);
    /// Entries from `first` on, of a block or page.
    Status addEntries(MetadataNumbers &numbers, std::uint64_t first, std::uint64_t count);
    /// Entries that are stored in pages from `address` on, each with a checksum of its own.
    Status addPages(std::uint64_t address, std::uint64_t first, std::uint64_t count,
                    std::uint64_t pageEntries, WrittenPages written);

private:
    std::optional<std::uint64_t> numberOf(std::uint64_t entry) const;
    std::uint64_t countNeeded() const;

    std::uint64_t m_header;
    FoundChunks &m_found;
    std::vector<std::size_t> m_order; ///< dimensions, the slowest first
    std::uint64_t m_needed;
};

/// HDF5 file format, "Fixed Array Index".
Status readFixedArray(std::uint64_t header, FoundChunks &found);
/// HDF5 file format, "Extensible Array Index".
Status readExtensibleArray(std::uint64_t header, FoundChunks &found);

} // namespace forkpoint
