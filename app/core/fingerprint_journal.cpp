// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fingerprint_journal.h"

#include "loaders/limits.h"
#include "loaders/results/fpx_format.h"
#include "loaders/results/fpx_layout.h"
#include "loaders/results/fpx_writer.h"
#include "loaders/storage/byte_cursor.h"
#include "loaders/storage/file_source.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace forkpoint {

namespace {

// A record: length of what follows the checksum (u64), XXH3-128 of that, key, encoded digests.
constexpr std::string_view Magic = "FPRESUM1";

Error systemError(const std::string &path, std::string_view what)
{
    return {
        ErrorCode::Io, path, {}, std::string(what) + ": " + std::generic_category().message(errno)};
}

} // namespace

Result<std::unique_ptr<FileJournal>> FileJournal::open(const std::string &path, std::uint32_t level,
                                                       bool believe, const ComputeBackend &backend)
{
    std::unique_ptr<FileJournal> journal(new FileJournal(pathBeside(path), level, backend));
    const int number =
        ::open(journal->m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (number < 0)
        return systemError(journal->m_path, "cannot be written");
    journal->m_file.reset(::fdopen(number, "r+b"));
    if (!journal->m_file)
        return systemError(journal->m_path, "cannot be written");
    FP_TRY(const auto source, FileSource::open(journal->m_path, journal->m_path));
    FP_TRY(const auto bytes, readAll(*source, 0, source->size(), limits::FingerprintFileBytes));
    const std::size_t compared = std::min(bytes.size(), Magic.size());
    if (asText(bytes).substr(0, compared) != Magic.substr(0, compared))
        return Error{ErrorCode::Refused,
                     journal->m_path,
                     {},
                     "must be what an interrupted fingerprinting left, is something else"};
    const std::uint64_t sound = believe ? journal->readRecords(bytes) : 0;
    // What a dying process left half written goes.
    if (::ftruncate(number, off_t(sound)) != 0 || ::lseek(number, off_t(sound), SEEK_SET) < 0)
        return systemError(journal->m_path, "cannot be written");
    if (sound == 0 && std::fwrite(Magic.data(), 1, Magic.size(), journal->m_file.get()) == 0)
        return systemError(journal->m_path, "cannot be written");
    return journal;
}

/// The position behind the last sound record.
std::uint64_t FileJournal::readRecords(ByteView bytes)
{
    ByteCursor cursor(bytes);
    if (!cursor.take(Magic.size()))
        return 0;
    for (;;) {
        const std::size_t begin = cursor.position();
        const auto length = cursor.little<std::uint64_t>();
        const auto checksum = length ? cursor.take(FpxDigestBytes) : std::nullopt;
        const auto record = checksum ? cursor.take(*length) : std::nullopt;
        if (!record || record->size() < FpxDigestBytes
            || storedDigest(checksum->data()) != m_backend.hash(*record))
            return begin;
        const ByteView digests = record->subspan(FpxDigestBytes);
        m_earlier[storedDigest(record->data())].assign(digests.begin(), digests.end());
    }
}

std::optional<Digest128> FileJournal::keyOf(const TensorSource &source, TensorIndex tensor) const
{
    const auto origin = source.origin(tensor);
    if (!origin || !std::all_of(origin->files.begin(), origin->files.end(), [](const auto &file) {
            return file->settled;
        }))
        return std::nullopt;
    return indexKey(m_backend, *origin);
}

std::optional<RecordedDigests> FileJournal::find(const TensorSource &source, TensorIndex tensor)
{
    if (m_earlier.empty())
        return std::nullopt;
    const auto key = keyOf(source, tensor);
    const auto earlier = key ? m_earlier.find(*key) : m_earlier.end();
    if (earlier == m_earlier.end())
        return std::nullopt;
    auto digests = decodeDigests(earlier->second, source.catalog().tensors[tensor].bytes);
    if (!digests.ok() || digests->level != m_level)
        return std::nullopt;
    return std::move(digests).value();
}

void FileJournal::add(const TensorSource &source, TensorIndex tensor,
                      const RecordedDigests &digests)
{
    const auto key = keyOf(source, tensor);
    if (!key)
        return;
    const std::vector<std::byte> encoded = encodeDigests(digests);
    FpxWriter body;
    body.digest(*key);
    body.raw(encoded);
    const std::vector<std::byte> bytes = body.take();
    FpxWriter record;
    record.u64(bytes.size());
    record.digest(m_backend.hash(bytes));
    record.raw(bytes);
    const std::vector<std::byte> whole = record.take();
    // A full disk only costs what there is to go on from.
    if (std::fwrite(whole.data(), 1, whole.size(), m_file.get()) == whole.size())
        std::fflush(m_file.get());
}

void FileJournal::remove()
{
    m_file.reset();
    std::remove(m_path.c_str());
}

} // namespace forkpoint
