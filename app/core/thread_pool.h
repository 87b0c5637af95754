// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/executor.h"

#include <memory>

namespace forkpoint {

/// As many threads as the hardware runs at once.
std::size_t hardwareThreads();

/// A fixed set of threads. The thread that calls forEach() works too, so several threads may call
/// it at once, also from within `work`, without waiting for each other's turns. What a piece throws
/// is thrown by forEach() once all pieces have ended.
class ThreadPool final : public Executor
{
public:
    /// `threads` counts the caller of forEach(); 0 stands for hardwareThreads().
    explicit ThreadPool(std::size_t threads = 0);
    /// Waits for the threads; nobody may be in forEach().
    ~ThreadPool() override;
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    std::size_t threadCount() const override;
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace forkpoint
