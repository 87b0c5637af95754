// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace forkpoint {

/// How long one call of the file system may take before it is given up: two minutes, or what was set for
/// this process. Storage that is merely slow answers within it; a dead server never does.
std::chrono::milliseconds stallAfter();
void setStallAfter(std::chrono::milliseconds longest);

/// The same while no call is out that was given up. While one is, a sixteenth of it, but 2 s at least (or
/// all of it, where that is less): a thousand files of one dead server are told in hours, not in days.
std::chrono::milliseconds patience();

/// By how many calls that were given up, and are still out, a file or a folder does not answer.
using Stalled = std::shared_ptr<std::atomic<int>>;

/// That a call for a file was given up, and that it came back after all.
void tellGivenUp(std::atomic<int> &file);
void tellBack(std::atomic<int> &file);

/// What one thread waits for. A read from a mount whose server is gone does not come back, and nothing
/// can end it: such a thread is given up, never to be seen again, and others do the rest of its work.
class ReadWait
{
public:
    /// Of the calling thread; it may outlive it.
    static const std::shared_ptr<ReadWait> &ofThisThread();

    /// Somebody watches the calling thread, and can do without it.
    void setExpendable() { m_expendable = true; }
    /// Whether it may wait for a read itself (WaitingForRead); else reads are to be done aside
    /// (loaders/storage/call_aside.h).
    bool mayBeGivenUp() const { return m_expendable && m_needed == 0; }

    /// If the thread has waited for one read for longer than patience(): says so to the file and makes
    /// sure that the thread, should the read come back after all, does nothing ever again. What it holds
    /// stays as it is: whoever gives it up must not wait for it, nor take from it what it may have locked.
    bool giveUp();

private:
    friend class WaitingForRead;
    friend class NeededHere;
    static constexpr std::int64_t Nothing = 0, GivenUp = -1;

    // Of the thread itself:
    bool m_expendable = false;
    int m_needed = 0;

    std::atomic<std::int64_t> m_since = Nothing; ///< nanoseconds of the steady clock, from 1
    std::atomic<std::atomic<int> *> m_stalled = nullptr;
};

/// While it lives, the calling thread must come back, because it holds a lock or its work cannot be begun
/// twice: what it reads is read aside.
class NeededHere
{
public:
    NeededHere() : m_wait(*ReadWait::ofThisThread()) { ++m_wait.m_needed; }
    NeededHere(const NeededHere &) = delete;
    NeededHere &operator=(const NeededHere &) = delete;
    ~NeededHere() { --m_wait.m_needed; }

private:
    ReadWait &m_wait;
};

/// While it lives, the calling thread, which mayBeGivenUp(), waits for the file system. `stalled` counts one
/// more if the thread is given up. Should the read come back after all, it counts one less, and the
/// destructor does not return.
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
