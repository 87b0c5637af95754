// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace forkpoint {

/// One thread that runs short closures in the order in which they came. Nothing that may block
/// belongs here: whoever owns state on this thread answers at once.
class TaskLoop
{
public:
    using Task = std::function<void()>;

    TaskLoop();
    ~TaskLoop(); ///< as quit()
    TaskLoop(const TaskLoop &) = delete;
    TaskLoop &operator=(const TaskLoop &) = delete;

    void post(Task task); ///< from any thread; ignored after quit()
    /// Runs `task` after at least `delay`; dropped by quit() if it has not come to its turn.
    void postAfter(std::chrono::milliseconds delay, Task task);
    /// Runs what post() has queued so far and what that queues, then ends the thread. Not from
    /// within a task.
    void quit();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace forkpoint
