// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/chunk_cache.h"

#include "loaders/limits.h"

#include <iterator>

namespace forkpoint {

ChunkCache &ChunkCache::ofThisProcess()
{
    static ChunkCache cache(limits::ChunkCacheBytes);
    return cache;
}

Result<ChunkCache::Bytes>
ChunkCache::get(const void *owner, std::uint64_t chunk,
                const std::function<Result<std::vector<std::byte>>()> &decode)
{
    const std::shared_ptr<Entry> entry = find({owner, chunk});
    const std::scoped_lock lock(entry->decoding);
    if (!entry->decoded) {
        auto bytes = decode();
        if (bytes.ok())
            entry->decoded =
                Bytes(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)));
        else
            entry->decoded = std::move(bytes).error();
        settle(entry);
    }
    return *entry->decoded;
}

std::shared_ptr<ChunkCache::Entry> ChunkCache::find(const Key &key)
{
    const std::scoped_lock lock(m_mutex);
    const auto known = m_places.find(key);
    if (known != m_places.end()) {
        m_entries.splice(m_entries.begin(), m_entries, known->second);
        return *known->second;
    }
    m_entries.push_front(std::make_shared<Entry>());
    m_entries.front()->key = key;
    m_places[key] = m_entries.begin();
    return m_entries.front();
}

/// Counts a chunk that was just decoded and makes room for it; a failure is not kept.
void ChunkCache::settle(const std::shared_ptr<Entry> &entry)
{
    const std::scoped_lock lock(m_mutex);
    const auto place = m_places.find(entry->key);
    if (place == m_places.end() || *place->second != entry)
        return; // dropped meanwhile
    if (!entry->decoded->ok())
        return drop(place->second);
    entry->size = entry->decoded->value()->size();
    m_size += entry->size;
    for (auto each = m_entries.end(); m_size > m_capacity && each != m_entries.begin();) {
        const auto last = std::prev(each);
        if ((*last)->size > 0)
            drop(last);
        else
            each = last; // is being decoded
    }
}

void ChunkCache::drop(Entries::iterator entry)
{
    m_size -= (*entry)->size;
    m_places.erase((*entry)->key);
    m_entries.erase(entry);
}

void ChunkCache::forget(const void *owner)
{
    const std::scoped_lock lock(m_mutex);
    for (auto place = m_places.lower_bound({owner, 0});
         place != m_places.end() && place->first.first == owner;) {
        const auto entry = (place++)->second;
        drop(entry);
    }
}

} // namespace forkpoint
