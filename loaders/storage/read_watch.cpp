// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/read_watch.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace forkpoint {

namespace {

std::int64_t now()
{
    const auto passed = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
}

std::atomic<std::int64_t> &longest()
{
    static std::atomic<std::int64_t> milliseconds = 120'000;
    return milliseconds;
}

/// Of the whole process.
std::atomic<int> callsOut = 0;

} // namespace

std::chrono::milliseconds stallAfter()
{
    return std::chrono::milliseconds(longest().load());
}

void setStallAfter(std::chrono::milliseconds given)
{
    longest() = given.count();
}

std::chrono::milliseconds patience()
{
    constexpr std::chrono::milliseconds Least{2000};
    const auto whole = stallAfter();
    return callsOut > 0 ? std::max(whole / 16, std::min(whole, Least)) : whole;
}

void tellGivenUp(std::atomic<int> &file)
{
    ++file;
    ++callsOut;
}

void tellBack(std::atomic<int> &file)
{
    --file;
    --callsOut;
}

const std::shared_ptr<ReadWait> &ReadWait::ofThisThread()
{
    static thread_local const auto wait = std::make_shared<ReadWait>();
    return wait;
}

bool ReadWait::giveUp()
{
    std::int64_t since = m_since.load();
    if (since <= Nothing || now() - since < std::chrono::nanoseconds(patience()).count())
        return false;
    std::atomic<int> *const stalled = m_stalled.load();
    // Time does not return: where the moment is the same, so is the read, and its file is there.
    if (!m_since.compare_exchange_strong(since, GivenUp))
        return false;
    tellGivenUp(*stalled);
    return true;
}

WaitingForRead::WaitingForRead(Stalled stalled)
    : m_wait(*ReadWait::ofThisThread()),
      m_stalled(std::move(stalled))
{
    m_wait.m_stalled.store(m_stalled.get());
    m_wait.m_since.store(now());
}

WaitingForRead::~WaitingForRead()
{
    if (m_wait.m_since.exchange(ReadWait::Nothing) != ReadWait::GivenUp)
        return;
    tellBack(*m_stalled);
    for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
}

} // namespace forkpoint
