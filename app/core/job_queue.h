// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/task_loop.h"
#include "model/progress.h"
#include "model/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// Between two batches the interactive lane is looked at first.
enum class Lane { Interactive, Background };

/// What a batch says when it returns: call me again, or I am done.
enum class Batch { More, Done };

enum class JobEnd { Finished, Failed, Cancelled };

using JobId = std::uint64_t;

/// What a batch may do, on the worker's thread. Valid during the batch only.
class JobControl
{
public:
    virtual std::stop_token stop() const = 0;
    /// Keeps the latest; whoever shows it samples.
    virtual void report(const Progress &progress) = 0;
    /// Runs `task` on the loop's thread, before the job's end; dropped if the end came first.
    virtual void post(std::function<void()> task) = 0;

protected:
    ~JobControl() = default;
};

struct Job
{
    std::string title; ///< for people: "Comparing runs/A with runs/C"
    std::string tag;   ///< a newer job of a tag drops older ones (a running one is asked to stop)
    Lane lane = Lane::Background;
    /// Called on the worker until it returns Done or an error. It owns what it needs: after a
    /// cancel it may still be stuck in a read while the queue goes on without it.
    std::function<Result<Batch>(JobControl &)> batch;
    /// Exactly once, on the loop's thread; the error only with Failed.
    std::function<void(JobEnd, const Error *)> ended;
};

struct RunningJob
{
    JobId id = 0;
    std::string title;
    Progress progress;
    std::chrono::milliseconds age{0}; ///< since its first batch began
};

/// Jobs for one worker thread. A batch that does not return after a cancel, because a read is
/// stuck, is abandoned: its job ends as cancelled, its thread is left alone, and a fresh one takes
/// over. All functions belong to the loop's thread.
class JobQueue
{
public:
    JobQueue(TaskLoop &loop, std::chrono::milliseconds patience);
    ~JobQueue(); ///< as shutdown() without waiting
    JobQueue(const JobQueue &) = delete;
    JobQueue &operator=(const JobQueue &) = delete;

    JobId add(Job job);
    /// The end is delivered within `patience`, whatever the job does.
    void cancel(JobId id);
    void cancelTag(const std::string &tag);
    void cancelAll();

    /// Started jobs that have not ended, oldest first.
    std::vector<RunningJob> running() const;
    bool idle() const; ///< nothing queued, nothing running
    bool hasTag(const std::string &tag) const;

    /// Called when a stuck thread was given up: what it shares should not be used by others.
    void setAbandoned(std::function<void()> abandoned);

    /// From another thread: cancels everything and waits for the worker, and for those that were
    /// given up before. False when one is stuck after `timeout` and was left alone.
    bool shutdown(std::chrono::milliseconds timeout);

private:
    struct State;
    std::shared_ptr<State> m_state; ///< shared with the worker, which may outlive the queue
};

} // namespace forkpoint
