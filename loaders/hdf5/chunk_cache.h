// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace forkpoint {

/// Decoded chunks of all sources of the process, the one used longest ago goes first. A reader of
/// rows meets each chunk of a row again and again: it is decoded once, by whoever comes first, and
/// others wait for that one. Chunks of which the very same bytes are stored, as in two files that
/// are equal, are decoded once as well.
class ChunkCache
{
public:
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;

    /// What is stored of a chunk, and all that decides what becomes of it.
    struct Stored
    {
        std::vector<std::byte> bytes;
        std::string filters; ///< empty: none, so that there is nothing to spare

        bool operator==(const Stored &) const = default;
    };
    using Load = std::function<Result<Stored>()>;
    using Decode = std::function<Result<std::vector<std::byte>>(const Stored &)>;

    explicit ChunkCache(std::uint64_t capacity) : m_capacity(capacity) {}
    static ChunkCache &ofThisProcess();

    Result<Bytes> get(const void *owner, std::uint64_t chunk, const Load &load,
                      const Decode &decode);
    void forget(const void *owner);

private:
    using Key = std::pair<const void *, std::uint64_t>;
    struct Entry
    {
        Key key;
        std::mutex decoding;
        std::optional<Result<Bytes>> decoded;
        std::uint64_t size = 0;               ///< what it counts for, once decoded
        std::shared_ptr<const Stored> stored; ///< of what was decoded here
        std::size_t hash = 0;                 ///< of it
    };
    using Entries = std::list<std::shared_ptr<Entry>>;

    std::shared_ptr<Entry> find(const Key &key);
    Result<Bytes> make(Entry &entry, const Load &load, const Decode &decode);
    Bytes findAlike(const Stored &stored, std::size_t hash);
    void settle(const std::shared_ptr<Entry> &entry);
    void drop(Entries::iterator entry);

    std::mutex m_mutex;
    const std::uint64_t m_capacity;
    std::uint64_t m_size = 0;
    Entries m_entries; ///< the one used last in front
    std::map<Key, Entries::iterator> m_places;
    std::unordered_multimap<std::size_t, Key> m_alike; ///< by the hash of what is stored
};

} // namespace forkpoint
