// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/task_loop.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace forkpoint {

using Clock = std::chrono::steady_clock;

struct TaskLoop::State
{
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> ready;
    std::multimap<Clock::time_point, Task> later;
    bool quitting = false;
    bool closed = false;
    std::thread thread;

    void serve();
    void takeDue();
};

/// Moves the delayed tasks whose time has come to the ready ones; needs the mutex.
void TaskLoop::State::takeDue()
{
    const Clock::time_point now = Clock::now();
    while (!later.empty() && later.begin()->first <= now) {
        ready.push_back(std::move(later.begin()->second));
        later.erase(later.begin());
    }
}

void TaskLoop::State::serve()
{
    std::unique_lock lock(mutex);
    while (true) {
        if (!quitting)
            takeDue();
        if (!ready.empty()) {
            Task task = std::move(ready.front());
            ready.pop_front();
            lock.unlock();
            task();
            task = nullptr; // what it holds is let go of outside the lock
            lock.lock();
        } else if (quitting) {
            closed = true;
            return;
        } else if (later.empty()) {
            changed.wait(lock);
        } else {
            const Clock::time_point due = later.begin()->first;
            changed.wait_until(lock, due);
        }
    }
}

TaskLoop::TaskLoop() : m_state(std::make_unique<State>())
{
    m_state->thread = std::thread([state = m_state.get()] { state->serve(); });
}

TaskLoop::~TaskLoop()
{
    quit();
}

void TaskLoop::post(Task task)
{
    {
        const std::lock_guard lock(m_state->mutex);
        if (m_state->closed)
            return;
        m_state->ready.push_back(std::move(task));
    }
    m_state->changed.notify_one();
}

void TaskLoop::postAfter(std::chrono::milliseconds delay, Task task)
{
    {
        const std::lock_guard lock(m_state->mutex);
        if (m_state->quitting)
            return;
        m_state->later.emplace(Clock::now() + delay, std::move(task));
    }
    m_state->changed.notify_one();
}

void TaskLoop::quit()
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->quitting = true;
    }
    m_state->changed.notify_one();
    if (m_state->thread.joinable())
        m_state->thread.join();
}

} // namespace forkpoint
