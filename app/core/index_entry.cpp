// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/index_entry.h"

#include "loaders/byte_cursor.h"
#include "model/fingerprint.h"

#include <algorithm>

namespace forkpoint {

namespace {

// Part of every name, key and entry: what another version wrote is not found.
constexpr std::string_view Magic = "FPINDEX1";
constexpr std::size_t DigestBytes = 16;

class Writer
{
public:
    void number(std::uint64_t value)
    {
        for (int i = 0; i < 8; ++i)
            m_bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    void text(std::string_view text)
    {
        const ByteView bytes = asBytes(text);
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }
    void digest(const Digest128 &digest)
    {
        const auto bytes = digest.canonical();
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }
    void state(const FileState &state)
    {
        number(state.device);
        number(state.inode);
        number(state.size);
        number(std::uint64_t(state.modifiedSeconds));
        number(std::uint64_t(state.modifiedNanoseconds));
        number(std::uint64_t(state.changedSeconds));
        number(std::uint64_t(state.changedNanoseconds));
    }
    ByteView bytes() const { return m_bytes; }
    std::vector<std::byte> take() { return std::move(m_bytes); }

private:
    std::vector<std::byte> m_bytes;
};

Digest128 digestAt(const std::byte *bytes)
{
    Digest128 digest;
    for (std::size_t i = 0; i < 8; ++i) {
        digest.high = digest.high << 8 | std::to_integer<std::uint64_t>(bytes[i]);
        digest.low = digest.low << 8 | std::to_integer<std::uint64_t>(bytes[8 + i]);
    }
    return digest;
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
    Writer writer;
    writer.text(Magic);
    writer.number(FingerprintVersion);
    writer.number(origin.files.size());
    for (const auto &file : origin.files)
        writer.state(*file);
    writer.text(origin.layout);
    return backend.hash(writer.bytes());
}

std::string indexEntryName(const ComputeBackend &backend, const FileState &state)
{
    Writer writer;
    writer.text(Magic);
    writer.number(state.device);
    writer.number(state.inode);
    return backend.hash(writer.bytes()).toHex();
}

std::vector<std::byte> encodeIndexEntry(const ComputeBackend &backend, const IndexEntry &entry)
{
    Writer writer;
    writer.text(Magic);
    writer.state(entry.state);
    writer.number(entry.state.path.size());
    writer.text(entry.state.path);
    writer.number(entry.known.size());
    for (const IndexEntry::Known &known : entry.known) {
        writer.digest(known.key);
        writer.digest(known.content);
    }
    writer.digest(backend.hash(writer.bytes()));
    return writer.take();
}

std::optional<IndexEntry> decodeIndexEntry(const ComputeBackend &backend, ByteView bytes)
{
    if (bytes.size() < DigestBytes)
        return std::nullopt;
    const ByteView body = bytes.first(bytes.size() - DigestBytes);
    if (backend.hash(body) != digestAt(bytes.data() + body.size()))
        return std::nullopt;
    ByteCursor cursor(body);
    const auto magic = cursor.take(Magic.size());
    IndexEntry entry;
    if (!magic || asText(*magic) != Magic || !takeState(cursor, entry.state))
        return std::nullopt;
    const auto length = cursor.little<std::uint64_t>();
    const auto path = length ? cursor.take(*length) : std::nullopt;
    const auto count = path ? cursor.little<std::uint64_t>() : std::nullopt;
    if (!count || cursor.left() % (2 * DigestBytes) != 0
        || *count != cursor.left() / (2 * DigestBytes))
        return std::nullopt;
    entry.state.path = asText(*path);
    entry.known.reserve(std::size_t(*count));
    for (std::uint64_t i = 0; i < *count; ++i) {
        const std::byte *pair = cursor.take(2 * DigestBytes)->data();
        entry.known.push_back({digestAt(pair), digestAt(pair + DigestBytes)});
    }
    return entry;
}

} // namespace forkpoint
