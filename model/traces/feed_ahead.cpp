// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/feed_ahead.h"

#include "model/traces/trace_feed.h"

#include <utility>

namespace forkpoint {

namespace {

/// Records of a batch, and bytes of their lines beyond which none is added.
constexpr std::size_t MostRecords = 1024;
constexpr std::size_t MostBytes = std::size_t(1) << 20;
constexpr std::size_t MostBatches = 4;

} // namespace

bool FeedAhead::readBatch()
{
    Batch batch;
    batch.records.reserve(MostRecords);
    FoundRecord found;
    std::size_t bytes = 0;
    while (batch.records.size() < MostRecords && bytes < MostBytes) {
        const auto isFound = m_feed.next(found);
        if (!isFound.ok())
            m_error = isFound.error();
        m_ended = !isFound.ok() || !*isFound;
        if (m_ended)
            break;
        const FormedRecord &formed = found.formed;
        bytes += formed.form ? formed.place.size : found.whole->place.size;
        batch.records.push_back(formed);
        if (formed.form)
            batch.digests.insert(batch.digests.end(), formed.digests.begin(), formed.digests.end());
        else
            batch.whole.push_back(*std::move(found.whole));
    }
    if (batch.records.empty())
        return false;
    // What they view is gone in the reader, and here for good only now.
    const char *digests = batch.digests.data();
    for (FormedRecord &each : batch.records) {
        if (each.form)
            each.digests = {std::exchange(digests, digests + each.digests.size()),
                            each.digests.size()};
    }
    const std::lock_guard guard(m_lock);
    m_queue.push_back(std::move(batch));
    return true;
}

Result<bool> FeedAhead::next(FoundRecord &into)
{
    while (m_next == m_taken.records.size()) {
        bool isEmpty = false;
        {
            const std::lock_guard guard(m_lock);
            isEmpty = m_queue.empty();
            if (!isEmpty) {
                m_taken = std::move(m_queue.front());
                m_queue.pop_front();
                m_next = m_nextWhole = 0;
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
        if (isQueued || (!m_ended && readBatch()))
            continue;
        if (m_error)
            return *m_error;
        return false;
    }
    into.formed = m_taken.records[m_next++];
    if (!into.formed.form)
        into.whole = std::move(m_taken.whole[m_nextWhole++]);
    return true;
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
        if (m_ended || !readBatch())
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
