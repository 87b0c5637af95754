// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>

namespace forkpoint {

/// Runs independent pieces of work, possibly in parallel. Results are placed by index, so that
/// nothing depends on which thread did what.
class Executor
{
public:
    virtual ~Executor() = default;

    virtual std::size_t threadCount() const = 0;
    /// Calls work(0) ... work(count - 1) and returns when all have ended. `work` must not throw. A piece
    /// whose thread does not come back from storage may be begun again, by another.
    virtual void forEach(std::size_t count, const std::function<void(std::size_t)> &work) = 0;
    /// The same of pieces that are begun once and no more, because they hold locks while they read or
    /// consume what they read: reads that do not come back are errors to them.
    virtual void forEachOnce(std::size_t count, const std::function<void(std::size_t)> &work)
    {
        forEach(count, work);
    }
};

/// Everything on the calling thread, in order.
class SerialExecutor final : public Executor
{
public:
    std::size_t threadCount() const override { return 1; }
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override
    {
        for (std::size_t i = 0; i < count; ++i)
            work(i);
    }
};

} // namespace forkpoint
