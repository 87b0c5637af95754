// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace forkpoint {

namespace {

/// One call of forEach(). `work` outlives every claimed index, because forEach() waits for them.
struct Round
{
    std::size_t count = 0;
    const std::function<void(std::size_t)> *work = nullptr;
    std::atomic<std::size_t> next = 0;
    std::size_t ended = 0;     ///< guarded by the pool's mutex
    std::exception_ptr failed; ///< likewise: what the first piece that failed threw

    bool exhausted() const { return next.load(std::memory_order_relaxed) >= count; }
};

} // namespace

struct ThreadPool::State
{
    std::mutex mutex;
    std::condition_variable offered; ///< a round was added, or the pool closes
    std::condition_variable ended;   ///< some round came to its end
    std::deque<std::shared_ptr<Round>> rounds;
    bool closing = false;
    std::vector<std::thread> threads;

    void work(const std::shared_ptr<Round> &round);
    void serve();
};

/// Claims indices until there are none left.
void ThreadPool::State::work(const std::shared_ptr<Round> &round)
{
    std::size_t done = 0;
    for (std::size_t i = round->next++; i < round->count; i = round->next++) {
        try {
            (*round->work)(i);
        } catch (
            ...) { // memory that is not there must not end the program from a thread of the pool
            const std::lock_guard lock(mutex);
            if (!round->failed)
                round->failed = std::current_exception();
        }
        ++done;
    }
    if (done == 0)
        return;
    const std::lock_guard lock(mutex);
    round->ended += done;
    if (round->ended == round->count)
        ended.notify_all();
}

void ThreadPool::State::serve()
{
    std::unique_lock lock(mutex);
    while (true) {
        std::erase_if(rounds, [](const auto &round) { return round->exhausted(); });
        if (!rounds.empty()) {
            const std::shared_ptr<Round> round = rounds.front();
            lock.unlock();
            work(round);
            lock.lock();
        } else if (closing) {
            return;
        } else {
            offered.wait(lock);
        }
    }
}

std::size_t hardwareThreads()
{
    return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(std::size_t threads) : m_state(std::make_unique<State>())
{
    if (threads == 0)
        threads = hardwareThreads();
    m_state->threads.reserve(threads - 1);
    for (std::size_t i = 1; i < threads; ++i) {
        try {
            m_state->threads.emplace_back([state = m_state.get()] { state->serve(); });
        } catch (const std::system_error &) {
            break; // the system has no more threads to give: work with those there are
        }
    }
}

ThreadPool::~ThreadPool()
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->closing = true;
    }
    m_state->offered.notify_all();
    for (std::thread &thread : m_state->threads)
        thread.join();
}

std::size_t ThreadPool::threadCount() const
{
    return m_state->threads.size() + 1;
}

void ThreadPool::forEach(std::size_t count, const std::function<void(std::size_t)> &work)
{
    if (count == 0)
        return;
    if (count == 1 || m_state->threads.empty()) {
        for (std::size_t i = 0; i < count; ++i)
            work(i);
        return;
    }
    const auto round = std::make_shared<Round>();
    round->count = count;
    round->work = &work;
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->rounds.push_back(round);
    }
    m_state->offered.notify_all();
    m_state->work(round);
    std::unique_lock lock(m_state->mutex);
    m_state->ended.wait(lock, [&] { return round->ended == round->count; });
    std::erase(m_state->rounds, round);
    lock.unlock();
    if (round->failed)
        std::rethrow_exception(round->failed);
}

} // namespace forkpoint
