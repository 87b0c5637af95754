// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/zip_reader.h"

#include "loaders/elements/running_digest.h"
#include "loaders/storage/inflate_source.h"
#include "loaders/storage/zip_directory.h"
#include "model/key_path.h"

#include <algorithm>
#include <numeric>

namespace forkpoint {

namespace {

constexpr std::size_t ChunkBytes = std::size_t(1) << 20;
constexpr std::size_t MaxRepeatedNamesTold = 100;

bool isDeflated(const ZipEntry &entry)
{
    return entry.method != 0;
}

std::string recordPlace(const ZipEntry &entry)
{
    return "record '" + escapeInvalidUtf8(entry.name) + "'";
}

void tellFirstOffset(const ByteSource &source, std::uint64_t directory,
                     const std::vector<ZipEntry> &entries, Diagnostics &diagnostics)
{
    std::uint64_t first = directory;
    for (const ZipEntry &entry : entries)
        first = std::min(first, entry.headerOffset);
    if (first == 0)
        return;
    diagnostics.push_back({Severity::Warning, "leading-bytes", source.name(), "byte 0",
                           std::to_string(first) + " bytes precede the first record"});
}

} // namespace

Result<ZipArchive> ZipArchive::open(std::shared_ptr<const ByteSource> source)
{
    ZipArchive archive;
    FP_TRY(const auto place, findZipDirectory(*source, archive.m_diagnostics));
    FP_TRY(archive.m_entries, readZipDirectory(*source, place));
    auto &entries = archive.m_entries;
    checkZipEntries(*source, place.offset, entries);
    tellFirstOffset(*source, place.offset, entries, archive.m_diagnostics);

    auto &byName = archive.m_byName;
    byName.resize(entries.size());
    std::iota(byName.begin(), byName.end(), std::size_t(0));
    std::stable_sort(byName.begin(), byName.end(), [&](std::size_t a, std::size_t b) {
        return entries[a].name < entries[b].name;
    });
    std::size_t told = 0;
    for (std::size_t i = 1; i < byName.size() && told < MaxRepeatedNamesTold; ++i) {
        const ZipEntry &entry = entries[byName[i]];
        if (entry.name != entries[byName[i - 1]].name)
            continue;
        ++told;
        archive.m_diagnostics.push_back({Severity::Warning, "repeated-name", source->name(),
                                         recordPlace(entry),
                                         "the archive has this name more than once"});
    }
    archive.m_source = std::move(source);
    return archive;
}

const ZipEntry *ZipArchive::find(std::string_view name) const
{
    const auto place = std::lower_bound(m_byName.begin(), m_byName.end(), name,
                                        [this](std::size_t index, std::string_view wanted) {
                                            return m_entries[index].name < wanted;
                                        });
    if (place == m_byName.end() || m_entries[*place].name != name)
        return nullptr;
    return &m_entries[*place];
}

bool ZipArchive::isRepeated(std::string_view name) const
{
    const auto range = std::equal_range(
        m_byName.begin(), m_byName.end(), name, [this]<class A, class B>(const A &a, const B &b) {
            const auto text = [this]<class T>(const T &key) -> std::string_view {
                if constexpr (std::is_same_v<T, std::size_t>)
                    return m_entries[key].name;
                else
                    return key;
            };
            return text(a) < text(b);
        });
    return range.second - range.first > 1;
}

Result<std::shared_ptr<const ByteSource>> ZipArchive::openEntry(const ZipEntry &entry) const
{
    if (entry.damage)
        return *entry.damage;
    std::string name = m_source->name() + ": " + escapeInvalidUtf8(entry.name);
    FP_TRY(std::shared_ptr<const ByteSource> stored,
           WindowSource::make(m_source, entry.dataOffset, entry.compressedSize, name));
    if (!isDeflated(entry))
        return stored;
    return std::shared_ptr<const ByteSource>(
        std::make_shared<InflateSource>(std::move(stored), entry.size, std::move(name)));
}

Result<std::vector<std::byte>> ZipArchive::readEntry(const ZipEntry &entry, std::uint64_t cap) const
{
    FP_TRY(const auto source, openEntry(entry));
    return readAll(*source, 0, source->size(), cap);
}

Status ZipArchive::checkCrc(const ZipEntry &entry, std::stop_token stop) const
{
    FP_TRY(const auto source, openEntry(entry));
    std::vector<std::byte> chunk;
    std::uint32_t crc = 0;
    for (std::uint64_t done = 0; done < source->size(); done += chunk.size()) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, m_source->name(), recordPlace(entry), "stopped"};
        chunk.resize(std::size_t(std::min<std::uint64_t>(ChunkBytes, source->size() - done)));
        FP_CHECK(source->read(done, chunk));
        crc = crc32Of(chunk, crc);
    }
    // torch writes 0 where it was told not to compute checksums.
    if (entry.crc == 0 || entry.crc == crc)
        return {};
    return Error{ErrorCode::Mismatch, m_source->name(), recordPlace(entry),
                 "its bytes disagree with the recorded CRC-32"};
}

} // namespace forkpoint
