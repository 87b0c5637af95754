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
#include <vector>

namespace forkpoint {

/// Decoded chunks of all sources of the process, the one used longest ago goes first. A reader of
/// rows meets each chunk of a row again and again: it is decoded once, by whoever comes first, and
/// others wait for that one.
class ChunkCache
{
public:
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;

    explicit ChunkCache(std::uint64_t capacity) : m_capacity(capacity) {}
    static ChunkCache &ofThisProcess();

    Result<Bytes> get(const void *owner, std::uint64_t chunk,
                      const std::function<Result<std::vector<std::byte>>()> &decode);
    void forget(const void *owner);

private:
    using Key = std::pair<const void *, std::uint64_t>;
    struct Entry
    {
        Key key;
        std::mutex decoding;
        std::optional<Result<Bytes>> decoded;
        std::uint64_t size = 0; ///< what it counts for, once decoded
    };
    using Entries = std::list<std::shared_ptr<Entry>>;

    std::shared_ptr<Entry> find(const Key &key);
    void settle(const std::shared_ptr<Entry> &entry);
    void drop(Entries::iterator entry);

    std::mutex m_mutex;
    const std::uint64_t m_capacity;
    std::uint64_t m_size = 0;
    Entries m_entries; ///< the one used last in front
    std::map<Key, Entries::iterator> m_places;
};

} // namespace forkpoint
