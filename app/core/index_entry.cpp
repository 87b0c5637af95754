// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/index_entry.h"

#include "loaders/results/fpx_layout.h"
#include "loaders/results/fpx_writer.h"
#include "loaders/storage/byte_cursor.h"
#include "model/fingerprint.h"

#include <algorithm>

namespace forkpoint {

namespace {

// Part of every name, key and entry: what another version wrote is not found.
constexpr std::string_view Magic = "FPINDEX1";

void write(FpxWriter &out, const FileState &state)
{
    out.u64(state.device);
    out.u64(state.inode);
    out.u64(state.size);
    out.u64(std::uint64_t(state.modifiedSeconds));
    out.u64(std::uint64_t(state.modifiedNanoseconds));
    out.u64(std::uint64_t(state.changedSeconds));
    out.u64(std::uint64_t(state.changedNanoseconds));
}

bool takeState(ByteCursor &cursor, FileState &state)
{
    std::uint64_t numbers[7] = {};
    for (std::uint64_t &number : numbers) {
        const auto taken = cursor.little<std::uint64_t>();
        if (!taken)
            return false;
        number = *taken;
    }
    state.device = numbers[0];
    state.inode = numbers[1];
    state.size = numbers[2];
    state.modifiedSeconds = std::int64_t(numbers[3]);
    state.modifiedNanoseconds = std::int64_t(numbers[4]);
    state.changedSeconds = std::int64_t(numbers[5]);
    state.changedNanoseconds = std::int64_t(numbers[6]);
    state.settled = true;
    return true;
}

} // namespace

std::optional<Digest128> IndexEntry::find(const Digest128 &key) const
{
    const auto found = std::lower_bound(
        known.begin(), known.end(), key,
        [](const Known &each, const Digest128 &wanted) { return each.key < wanted; });
    return found != known.end() && found->key == key ? std::optional(found->content) : std::nullopt;
}

void IndexEntry::sort()
{
    std::stable_sort(known.begin(), known.end(),
                     [](const Known &left, const Known &right) { return left.key < right.key; });
    std::vector<Known> once;
    once.reserve(known.size());
    for (const Known &each : known) {
        if (!once.empty() && once.back().key == each.key)
            once.back() = each;
        else
            once.push_back(each);
    }
    known = std::move(once);
}

Digest128 indexKey(const ComputeBackend &backend, const TensorOrigin &origin)
{
    FpxWriter writer;
    writer.raw(asBytes(Magic));
    writer.u64(FingerprintVersion);
    writer.u64(origin.files.size());
    for (const auto &file : origin.files)
        write(writer, *file);
    writer.raw(asBytes(origin.layout));
    return backend.hash(writer.bytes());
}

std::string indexEntryName(const ComputeBackend &backend, const FileState &state)
{
    FpxWriter writer;
    writer.raw(asBytes(Magic));
    writer.u64(state.device);
    writer.u64(state.inode);
    return backend.hash(writer.bytes()).toHex();
}

std::vector<std::byte> encodeIndexEntry(const ComputeBackend &backend, const IndexEntry &entry)
{
    FpxWriter writer;
    writer.raw(asBytes(Magic));
    write(writer, entry.state);
    writer.u64(entry.state.path.size());
    writer.raw(asBytes(entry.state.path));
    writer.u64(entry.known.size());
    for (const IndexEntry::Known &known : entry.known) {
        writer.digest(known.key);
        writer.digest(known.content);
    }
    writer.digest(backend.hash(writer.bytes()));
    return writer.take();
}

std::optional<IndexEntry> decodeIndexEntry(const ComputeBackend &backend, ByteView bytes)
{
    if (bytes.size() < FpxDigestBytes)
        return std::nullopt;
    const ByteView body = bytes.first(bytes.size() - FpxDigestBytes);
    if (backend.hash(body) != storedDigest(bytes.data() + body.size()))
        return std::nullopt;
    ByteCursor cursor(body);
    const auto magic = cursor.take(Magic.size());
    IndexEntry entry;
    if (!magic || asText(*magic) != Magic || !takeState(cursor, entry.state))
        return std::nullopt;
    const auto length = cursor.little<std::uint64_t>();
    const auto path = length ? cursor.take(*length) : std::nullopt;
    const auto count = path ? cursor.little<std::uint64_t>() : std::nullopt;
    if (!count || cursor.left() % (2 * FpxDigestBytes) != 0
        || *count != cursor.left() / (2 * FpxDigestBytes))
        return std::nullopt;
    entry.state.path = asText(*path);
    entry.known.reserve(std::size_t(*count));
    for (std::uint64_t i = 0; i < *count; ++i) {
        const std::byte *pair = cursor.take(2 * FpxDigestBytes)->data();
        entry.known.push_back({storedDigest(pair), storedDigest(pair + FpxDigestBytes)});
    }
    return entry;
}

} // namespace forkpoint
