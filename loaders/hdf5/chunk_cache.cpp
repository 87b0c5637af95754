// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_cache.h"

#include "loaders/limits.h"
#include "loaders/storage/read_watch.h"
#include "model/bytes.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace forkpoint {

ChunkCache &ChunkCache::ofThisProcess()
{
    static ChunkCache cache(limits::ChunkCacheBytes);
    return cache;
}

Result<ChunkCache::Bytes> ChunkCache::get(const void *owner, std::uint64_t chunk, const Load &load,
                                          const Decode &decode)
{
    const std::shared_ptr<Entry> entry = find({owner, chunk});
    const std::scoped_lock lock(entry->decoding);
    const NeededHere needed;
    if (!entry->decoded) {
        entry->decoded = make(*entry, load, decode);
        settle(entry);
    }
    return *entry->decoded;
}

Result<ChunkCache::Bytes> ChunkCache::make(Entry &entry, const Load &load, const Decode &decode)
{
    FP_TRY(Stored stored, load());
    if (!stored.filters.empty()) {
        entry.hash = std::hash<std::string_view>()(asText(stored.bytes));
        if (Bytes known = findAlike(stored, entry.hash))
            return known;
    }
    FP_TRY(std::vector<std::byte> bytes, decode(stored));
    if (!stored.filters.empty())
        entry.stored = std::make_shared<const Stored>(std::move(stored));
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

/// What was decoded of the same bytes by the same filters, and is still kept. Bytes are compared: a
/// hash alone proves nothing.
ChunkCache::Bytes ChunkCache::findAlike(const Stored &stored, std::size_t hash)
{
    std::vector<std::pair<std::shared_ptr<const Stored>, Bytes>> candidates;
    {
        const std::scoped_lock lock(m_mutex);
        const auto [first, last] = m_alike.equal_range(hash);
        for (auto each = first; each != last; ++each) {
            const Entry &entry = **m_places.at(each->second);
            candidates.emplace_back(entry.stored, entry.decoded->value());
        }
    }
    for (const auto &[other, bytes] : candidates) {
        if (*other == stored)
            return bytes;
    }
    return nullptr;
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
    if (entry->stored) {
        entry->size += entry->stored->bytes.size();
        m_alike.emplace(entry->hash, entry->key);
    }
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
    const auto [first, last] = m_alike.equal_range((*entry)->hash);
    const auto own =
        std::find_if(first, last, [&](const auto &alike) { return alike.second == (*entry)->key; });
    if (own != last)
        m_alike.erase(own);
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
