// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/feed_ahead.h"

#include "model/trace_walk.h"

namespace forkpoint {

namespace {

/// Records of a batch, and bytes of their lines beyond which none is added.
constexpr std::size_t MostRecords = 256;
constexpr std::size_t MostBytes = std::size_t(1) << 20;
constexpr std::size_t MostBatches = 4;

} // namespace

bool FeedAhead::readBatch()
{
    Batch batch;
    std::size_t bytes = 0;
    while (!m_ended && batch.size() < MostRecords && bytes < MostBytes) {
        auto record = m_feed.next();
        if (!record.ok())
            m_error = record.error();
        m_ended = !record.ok() || !*record;
        if (m_ended)
            break;
        batch.push_back({**std::move(record), std::string(m_feed.lastLine())});
        bytes += batch.back().record.place.size;
    }
    if (batch.empty())
        return false;
    const std::lock_guard guard(m_lock);
    m_queue.push_back(std::move(batch));
    return true;
}

Result<std::optional<FeedAhead::Item>> FeedAhead::next()
{
    while (m_next == m_taken.size()) {
        bool isEmpty = false;
        {
            const std::lock_guard guard(m_lock);
            isEmpty = m_queue.empty();
            if (!isEmpty) {
                m_taken = std::move(m_queue.front());
                m_queue.pop_front();
                m_next = 0;
            }
        }
        if (!isEmpty) {
            m_hasRoom.notify_one();
            break;
        }
        // Who reads ahead is at it, and its batch comes; or nobody is, and it is read here.
        const std::lock_guard reading(m_reading);
        const bool isQueued = [&] {
            const std::lock_guard guard(m_lock);
            return !m_queue.empty();
        }();
        if (isQueued || readBatch())
            continue;
        if (m_error)
            return *m_error;
        return std::optional<Item>();
    }
    return std::optional(std::move(m_taken[m_next++]));
}

void FeedAhead::produce()
{
    for (;;) {
        {
            std::unique_lock guard(m_lock);
            m_hasRoom.wait(guard, [&] { return m_stopped || m_queue.size() < MostBatches; });
            if (m_stopped)
                return;
        }
        const std::lock_guard reading(m_reading);
        if (!readBatch())
            return;
    }
}

void FeedAhead::stop()
{
    {
        const std::lock_guard guard(m_lock);
        m_stopped = true;
    }
    m_hasRoom.notify_one();
}

} // namespace forkpoint
