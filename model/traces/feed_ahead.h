// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"
#include "model/traces/record_form.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace forkpoint {

class TraceFeed;

/// Reads the records of a feed ahead of who takes them, where a second thread is there for that: the
/// order is that of the feed, whoever reads. Memory is bounded in records and in bytes of lines.
class FeedAhead
{
public:
    explicit FeedAhead(TraceFeed &feed) : m_feed(feed) {}

    /// The next record, false at the end: read here if it was not read ahead.
    Result<bool> next(FoundRecord &into);
    /// Reads ahead until the feed's end, or until stop().
    void produce();
    void stop();

private:
    struct Batch
    {
        std::vector<FormedRecord> records; ///< without a form: the next of `whole`
        std::vector<TraceRecord> whole;
        std::vector<char> digests; ///< of all records
    };

    /// Under m_reading: a batch to the end of the queue; false at the end of the feed.
    bool readBatch();

    TraceFeed &m_feed;
    std::mutex m_reading; ///< held by who reads the feed
    bool m_ended = false; ///< under m_reading; there is nothing more to read
    std::optional<Error> m_error;

    std::mutex m_lock;
    std::condition_variable m_hasRoom;
    std::deque<Batch> m_queue;
    bool m_stopped = false;

    Batch m_taken; ///< of who takes
    std::size_t m_next = 0, m_nextWhole = 0;
};

} // namespace forkpoint
