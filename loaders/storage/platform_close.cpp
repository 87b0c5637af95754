// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/platform_close.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <unistd.h>

namespace forkpoint {

namespace {

using Clock = std::chrono::steady_clock;

/// Beyond that many the caller closes what it has, unless the thread is stuck: what waits is open still, and a
/// process may have few descriptors.
constexpr std::size_t Most = 8;
constexpr std::chrono::seconds Stuck{1};

class Closer
{
public:
    static Closer &ofThisProcess()
    {
        // Never destroyed: its thread may be stuck while the process ends.
        static Closer *const closer = new Closer;
        return *closer;
    }

    /// False where it is for the caller to do.
    bool take(int descriptor)
    {
        const std::lock_guard lock(m_mutex);
        const bool isStuck = m_since && Clock::now() - *m_since > Stuck;
        if (!m_hasThread || (m_waiting.size() >= Most && !isStuck))
            return false;
        try {
            m_waiting.push_back(descriptor);
        } catch (const std::exception &) { // no memory, and descriptors go where nothing may throw
            return false;
        }
        m_changed.notify_one();
        return true;
    }

private:
    Closer()
    {
        try {
            std::thread([this] { serve(); }).detach();
            m_hasThread = true;
        } catch (const std::exception &) { // the system has no more threads to give
        }
    }

    void serve()
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [this] { return !m_waiting.empty(); });
            const int descriptor = m_waiting.back();
            m_waiting.pop_back();
            m_since = Clock::now();
            lock.unlock();
            ::close(descriptor);
            lock.lock();
            m_since.reset();
        }
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<int> m_waiting;
    std::optional<Clock::time_point> m_since; ///< of the one that is being closed
    bool m_hasThread = false;
};

} // namespace

void closeAside(int descriptor)
{
    if (!Closer::ofThisProcess().take(descriptor))
        ::close(descriptor);
}

} // namespace forkpoint
