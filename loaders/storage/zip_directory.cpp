// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/zip_directory.h"

#include "loaders/limits.h"
#include "loaders/storage/byte_cursor.h"
#include "model/key_path.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::uint32_t EndSignature = 0x06054b50;
constexpr std::uint32_t End64Signature = 0x06064b50;
constexpr std::uint32_t Locator64Signature = 0x07064b50;
constexpr std::uint32_t EntrySignature = 0x02014b50;
constexpr std::uint32_t LocalSignature = 0x04034b50;

constexpr std::size_t EndBytes = 22;
constexpr std::size_t Locator64Bytes = 20;
constexpr std::size_t End64Bytes = 56;
constexpr std::size_t EntryBytes = 46;
constexpr std::size_t LocalBytes = 30;
constexpr std::uint64_t MaxComment = 0xffff;

constexpr std::uint16_t Encrypted = 0x2041; // bits 0, 6 (strong) and 13 (masked headers)
constexpr std::uint16_t Stored = 0;
constexpr std::uint16_t Deflated = 8;
// The most that one bit of deflate data can stand for: 258 bytes from two bits.
constexpr std::uint64_t MaxDeflateRatio = 1032;

std::string at(std::uint64_t offset)
{
    return "byte " + std::to_string(offset);
}

Error bad(const ByteSource &source, std::uint64_t offset, std::string text,
          ErrorCode code = ErrorCode::Malformed)
{
    return {code, source.name(), at(offset), std::move(text)};
}

template <class T>
T field(ByteView record, std::size_t offset)
{
    return loadLittle<T>(record.data() + offset);
}

// ---- end record --------------------------------------------------------------------------------

struct EndRecord
{
    ZipDirectoryPlace place;
    std::uint64_t end = 0; ///< first byte behind the record and its comment
};

/// The numbers of the zip64 end record, if a locator stands before the classic one.
Status readEnd64(const ByteSource &source, std::uint64_t position, EndRecord &record,
                 std::uint64_t &directoryEnd)
{
    if (position < Locator64Bytes)
        return {};
    const std::uint64_t locatorAt = position - Locator64Bytes;
    FP_TRY(const auto locator, readAll(source, locatorAt, Locator64Bytes, Locator64Bytes));
    if (field<std::uint32_t>(locator, 0) != Locator64Signature)
        return {};
    const auto offset = field<std::uint64_t>(locator, 8);
    if (offset > locatorAt || locatorAt - offset < End64Bytes)
        return bad(source, locatorAt, "the zip64 end record must lie before its locator");
    FP_TRY(const auto end64, readAll(source, offset, End64Bytes, End64Bytes));
    if (field<std::uint32_t>(end64, 0) != End64Signature)
        return bad(source, offset, "there is no zip64 end record where its locator says");
    if (field<std::uint64_t>(end64, 4) != locatorAt - offset - 12)
        return bad(source, offset, "the zip64 end record must end at its locator");
    const ZipDirectoryPlace wide{field<std::uint64_t>(end64, 48), field<std::uint64_t>(end64, 40),
                                 field<std::uint64_t>(end64, 32)};
    const auto agrees = [](std::uint64_t narrow, std::uint64_t limit, std::uint64_t value) {
        return narrow == limit || narrow == value;
    };
    if (!agrees(record.place.offset, 0xffffffff, wide.offset)
        || !agrees(record.place.size, 0xffffffff, wide.size)
        || !agrees(record.place.entries, 0xffff, wide.entries)) {
        return bad(source, position, "the two end records disagree", ErrorCode::Mismatch);
    }
    record.place = wide;
    directoryEnd = offset;
    return {};
}

Result<EndRecord> parseEnd(const ByteSource &source, std::uint64_t position, ByteView bytes)
{
    EndRecord record;
    record.end = position + EndBytes + field<std::uint16_t>(bytes, 20);
    if (record.end > source.size())
        return bad(source, position, "the archive comment is cut", ErrorCode::Truncated);
    record.place = {field<std::uint32_t>(bytes, 16), field<std::uint32_t>(bytes, 12),
                    field<std::uint16_t>(bytes, 10)};
    std::uint64_t directoryEnd = position;
    FP_CHECK(readEnd64(source, position, record, directoryEnd));
    const auto end = checkedAdd(record.place.offset, record.place.size);
    if (!end || *end != directoryEnd) {
        return bad(source, position,
                   "the directory must end at " + at(directoryEnd) + ", is said to be "
                       + std::to_string(record.place.size) + " bytes from "
                       + at(record.place.offset));
    }
    return record;
}

// ---- directory ---------------------------------------------------------------------------------

/// Replaces saturated 32-bit fields by those of the zip64 extra field (APPNOTE 4.5.3).
void applyZip64(ByteView extras, ZipEntry &entry)
{
    ByteCursor cursor(extras);
    while (cursor.left() >= 4) {
        const auto id = cursor.little<std::uint16_t>();
        const auto length = cursor.little<std::uint16_t>();
        const auto data = cursor.take(length.value_or(0));
        if (!data)
            return;
        if (id != 0x0001)
            continue;
        ByteCursor wide(*data);
        for (std::uint64_t *value : {&entry.size, &entry.compressedSize, &entry.headerOffset}) {
            if (*value == 0xffffffff)
                *value = wide.little<std::uint64_t>().value_or(*value);
        }
    }
}

/// The next entry, or nothing when the directory ends within it.
std::optional<ZipEntry> nextEntry(ByteCursor &cursor)
{
    const auto fixed = cursor.take(EntryBytes);
    if (!fixed || field<std::uint32_t>(*fixed, 0) != EntrySignature)
        return std::nullopt;
    ZipEntry entry;
    entry.flags = field<std::uint16_t>(*fixed, 8);
    entry.method = field<std::uint16_t>(*fixed, 10);
    entry.crc = field<std::uint32_t>(*fixed, 16);
    entry.compressedSize = field<std::uint32_t>(*fixed, 20);
    entry.size = field<std::uint32_t>(*fixed, 24);
    entry.headerOffset = field<std::uint32_t>(*fixed, 42);
    const auto name = cursor.take(field<std::uint16_t>(*fixed, 28));
    const auto extras = cursor.take(field<std::uint16_t>(*fixed, 30));
    const auto comment = cursor.take(field<std::uint16_t>(*fixed, 32));
    if (!name || !extras || !comment)
        return std::nullopt;
    entry.name = asText(*name);
    applyZip64(*extras, entry);
    return entry;
}

// ---- entries -----------------------------------------------------------------------------------

std::optional<Error> damageOfHeader(const ByteSource &source, std::uint64_t directory,
                                    ZipEntry &entry)
{
    const std::uint64_t needed = LocalBytes + entry.name.size();
    if (entry.headerOffset > directory || directory - entry.headerOffset < needed) {
        return bad(source, entry.headerOffset,
                   "its local header must lie before the directory at " + at(directory));
    }
    auto header = readAll(source, entry.headerOffset, needed, needed);
    if (!header.ok())
        return std::move(header).error();
    if (field<std::uint32_t>(*header, 0) != LocalSignature)
        return bad(source, entry.headerOffset, "there is no local header here");
    const std::size_t nameBytes = field<std::uint16_t>(*header, 26);
    const bool sameName = nameBytes == entry.name.size()
        && asText(ByteView(*header).subspan(LocalBytes)) == entry.name;
    if (!sameName) {
        return bad(source, entry.headerOffset, "the local header has another name",
                   ErrorCode::Mismatch);
    }
    entry.dataOffset = entry.headerOffset + needed + field<std::uint16_t>(*header, 28);
    if (entry.dataOffset > directory || entry.compressedSize > directory - entry.dataOffset) {
        return bad(source, entry.dataOffset,
                   "its " + std::to_string(entry.compressedSize)
                       + " bytes must end before the directory at " + at(directory));
    }
    return std::nullopt;
}

std::optional<Error> damageOfContents(const ByteSource &source, const ZipEntry &entry)
{
    if ((entry.flags & Encrypted) != 0)
        return bad(source, entry.headerOffset, "is encrypted", ErrorCode::Unsupported);
    if (entry.method != Stored && entry.method != Deflated) {
        return bad(source, entry.headerOffset,
                   "is compressed by method " + std::to_string(entry.method)
                       + ", known are 0 (stored) and 8 (deflated)",
                   ErrorCode::Unsupported);
    }
    if (entry.method == Stored && entry.size != entry.compressedSize) {
        return bad(source, entry.headerOffset,
                   "is stored, but has two sizes: " + std::to_string(entry.compressedSize) + " and "
                       + std::to_string(entry.size),
                   ErrorCode::Mismatch);
    }
    if (entry.method == Deflated && entry.size / MaxDeflateRatio > entry.compressedSize) {
        return bad(source, entry.headerOffset,
                   "announces " + std::to_string(entry.size) + " bytes, more than "
                       + std::to_string(entry.compressedSize) + " deflated bytes can hold");
    }
    return std::nullopt;
}

/// A record that runs into the header of the next one lies about its size; the next has a header
/// of its own that was found sound. Of several records on one header none is believed.
void markOverlaps(const ByteSource &source, std::vector<ZipEntry> &entries)
{
    std::vector<ZipEntry *> sound;
    for (ZipEntry &entry : entries) {
        if (!entry.damage)
            sound.push_back(&entry);
    }
    std::sort(sound.begin(), sound.end(), [](const ZipEntry *a, const ZipEntry *b) {
        return a->headerOffset < b->headerOffset;
    });
    for (std::size_t i = 0; i + 1 < sound.size(); ++i) {
        ZipEntry &entry = *sound[i];
        ZipEntry &next = *sound[i + 1];
        if (entry.dataOffset + entry.compressedSize <= next.headerOffset)
            continue;
        const bool same = entry.headerOffset == next.headerOffset;
        entry.damage = bad(source, entry.headerOffset,
                           same ? "another record has the same local header"
                                : "runs into the record at " + at(next.headerOffset));
        if (same && i + 2 == sound.size())
            next.damage = entry.damage;
        else if (same && sound[i + 2]->headerOffset != next.headerOffset)
            next.damage = entry.damage;
    }
}

} // namespace

Result<ZipDirectoryPlace> findZipDirectory(const ByteSource &source, Diagnostics &diagnostics)
{
    const std::uint64_t size = source.size();
    const std::uint64_t tail = std::min<std::uint64_t>(size, EndBytes + MaxComment);
    FP_TRY(const auto bytes, readAll(source, size - tail, tail, tail));
    std::optional<EndRecord> found;
    std::optional<Error> reason;
    std::vector<std::uint64_t> candidates;
    for (std::size_t i = bytes.size() < EndBytes ? 0 : bytes.size() - EndBytes + 1; i-- > 0;) {
        if (field<std::uint32_t>(bytes, i) != EndSignature)
            continue;
        auto record = parseEnd(source, size - tail + i, ByteView(bytes).subspan(i, EndBytes));
        candidates.push_back(size - tail + i);
        // A record that ends where the file does is better than one with bytes behind it.
        const bool better = record.ok() && (!found || (found->end != size && record->end == size));
        if (better)
            found = *record;
        else if (!record.ok() && !reason)
            reason = record.error();
    }
    if (!found && reason)
        return std::move(*reason);
    if (!found) {
        return bad(source, size, "a zip must end with an end record, there is none (a cut file?)",
                   ErrorCode::Truncated);
    }
    // Those of archives that are stored within lie before this one's directory.
    const auto behind = std::count_if(candidates.begin(), candidates.end(),
                                      [&](std::uint64_t at) { return at >= found->place.offset; });
    if (behind > 1) {
        diagnostics.push_back({Severity::Warning,
                               "second-end-record",
                               source.name(),
                               {},
                               "more than one place looks like the end record of a zip"});
    }
    if (found->end != size) {
        diagnostics.push_back({Severity::Warning, "trailing-bytes", source.name(), at(found->end),
                               std::to_string(size - found->end) + " bytes follow the archive"});
    }
    return found->place;
}

Result<std::vector<ZipEntry>> readZipDirectory(const ByteSource &source,
                                               const ZipDirectoryPlace &place)
{
    if (place.entries > limits::ZipEntries) {
        return bad(source, place.offset,
                   "may have at most " + std::to_string(limits::ZipEntries) + " records, has "
                       + std::to_string(place.entries),
                   ErrorCode::Limit);
    }
    if (place.entries > place.size / EntryBytes) {
        return bad(source, place.offset,
                   "announces " + std::to_string(place.entries) + " records, its directory of "
                       + std::to_string(place.size) + " bytes holds fewer");
    }
    FP_TRY(const auto bytes, readAll(source, place.offset, place.size, limits::ZipDirectoryBytes));
    ByteCursor cursor(bytes);
    std::vector<ZipEntry> entries;
    entries.reserve(std::size_t(place.entries));
    for (std::uint64_t i = 0; i < place.entries; ++i) {
        const std::uint64_t begin = place.offset + cursor.position();
        auto entry = nextEntry(cursor);
        if (!entry)
            return bad(source, begin, "directory entry " + std::to_string(i) + " is no entry");
        entries.push_back(std::move(*entry));
    }
    if (cursor.left() > 0) {
        return bad(source, place.offset + cursor.position(),
                   "the directory goes on after its " + std::to_string(place.entries) + " entries");
    }
    return entries;
}

void checkZipEntries(const ByteSource &source, std::uint64_t directory,
                     std::vector<ZipEntry> &entries)
{
    for (ZipEntry &entry : entries) {
        entry.damage = damageOfHeader(source, directory, entry);
        if (!entry.damage)
            entry.damage = damageOfContents(source, entry);
    }
    markOverlaps(source, entries);
    for (ZipEntry &entry : entries) {
        if (entry.damage)
            entry.damage =
                std::move(*entry.damage).atPlace("record '" + escapeInvalidUtf8(entry.name) + "'");
    }
}

} // namespace forkpoint
