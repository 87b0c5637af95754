// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/diagnostic.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// One record of a zip archive, as the central directory has it, with the data range that follows
/// from its local header. Sizes and CRC of local headers are not used: torch leaves them zero.
struct ZipEntry
{
    std::string name;         ///< raw bytes; never used as a path
    std::uint16_t method = 0; ///< 0 stored, 8 deflated
    std::uint16_t flags = 0;
    std::uint32_t crc = 0; ///< 0 may mean "not computed" (torch without CRCs)
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;
    std::uint64_t headerOffset = 0;
    std::uint64_t dataOffset = 0; ///< valid unless `damage` is set
    std::optional<Error> damage;  ///< why the record must not be read (overlap, bad header, ...)
};

/// The directory of a zip archive in a byte source: zip64, any alignment, records stored or
/// deflated. Positional and tolerant of torch's header oddities, strict about ranges: every record
/// lies before the central directory and overlaps no other; what does not is marked damaged.
class ZipArchive
{
public:
    /// Fails where there is no sound end record and directory (a cut file); recovery by guessing
    /// from local headers is not attempted.
    static Result<ZipArchive> open(std::shared_ptr<const ByteSource> source);

    const std::vector<ZipEntry> &entries() const { return m_entries; } ///< in directory order
    const ZipEntry *find(std::string_view name) const; ///< nullptr if absent; the first if repeated
    bool isRepeated(std::string_view name) const;      ///< the name occurs more than once
    /// Oddities worth telling: trailing bytes, bytes before the first record, repeated names, a
    /// second end record, names that differ between local header and directory.
    const Diagnostics &diagnostics() const { return m_diagnostics; }
    const std::shared_ptr<const ByteSource> &source() const { return m_source; }

    /// The decoded bytes of a record as a source of its own. Stored records are windows; deflated
    /// ones are decoded on demand in bounded memory, and never beyond their announced size.
    Result<std::shared_ptr<const ByteSource>> openEntry(const ZipEntry &entry) const;
    /// The decoded bytes of a record, at most `cap` of them.
    Result<std::vector<std::byte>> readEntry(const ZipEntry &entry, std::uint64_t cap) const;
    /// Compares the CRC of the decoded bytes with the directory's: Mismatch if they disagree and
    /// the recorded one is not 0. Reads the whole record.
    Status checkCrc(const ZipEntry &entry, std::stop_token stop) const;

private:
    std::shared_ptr<const ByteSource> m_source;
    std::vector<ZipEntry> m_entries;
    std::vector<std::size_t> m_byName; ///< entry numbers sorted by name, then number
    Diagnostics m_diagnostics;
};

} // namespace forkpoint
