// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace forkpoint {

/// What one thread waits for. A read from a mount whose server is gone does not come back, and nothing
/// can end it: such a thread is given up, never to be seen again, and others do the rest of its work.
class ReadWait
{
public:
    /// Of the calling thread; it may outlive it.
    static const std::shared_ptr<ReadWait> &ofThisThread();

    /// If the thread has waited for one read for longer than that: says so to the file and makes sure
    /// that the thread, should the read come back after all, does nothing ever again. What it holds stays
    /// as it is: whoever gives it up must not wait for it, nor take from it what it may have locked.
    bool giveUp(std::chrono::milliseconds longest);

private:
    friend class WaitingForRead;
    static constexpr std::int64_t Nothing = 0, GivenUp = -1;

    std::atomic<std::int64_t> m_since = Nothing; ///< nanoseconds of the steady clock, from 1
    std::atomic<std::atomic<bool> *> m_stalled = nullptr;
};

/// Whether a file does not answer.
using Stalled = std::shared_ptr<std::atomic<bool>>;

/// While it lives, the calling thread waits for the file system, holding no lock. `stalled` becomes true if
/// the thread is given up. Should the read come back after all, it is false again, and the destructor does
/// not return.
class WaitingForRead
{
public:
    explicit WaitingForRead(Stalled stalled);
    WaitingForRead(const WaitingForRead &) = delete;
    WaitingForRead &operator=(const WaitingForRead &) = delete;
    ~WaitingForRead();

private:
    ReadWait &m_wait;
    Stalled m_stalled;
};

} // namespace forkpoint
