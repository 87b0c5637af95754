// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/executor.h"

#include <memory>

namespace forkpoint {

/// As many threads as the hardware runs at once.
std::size_t hardwareThreads();

/// A set of threads. One of them stands in for each thread that calls forEach() from outside, so several may
/// call it at once, also from within `work`, without waiting for each other's turns. What a piece throws is
/// thrown by forEach() once all pieces have ended.
///
/// A thread that waits for one read of a file for longer than patience() is given up (loaders/storage/read_watch.h)
/// and another takes its place: the piece is begun anew, and meets a file that answers with an error.
/// `work` must therefore bear to be begun twice, or be given to forEachOnce().
class ThreadPool final : public Executor
{
public:
    /// `threads` work for one caller of forEach(); 0 stands for hardwareThreads().
    explicit ThreadPool(std::size_t threads = 0);
    /// Waits for the threads but those that were given up; nobody may be in forEach().
    ~ThreadPool() override;
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    std::size_t threadCount() const override;
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override;
    void forEachOnce(std::size_t count, const std::function<void(std::size_t)> &work) override;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace forkpoint
