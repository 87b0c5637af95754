// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/job_queue.h"
#include "app/core/session.h"

#include <map>
#include <optional>
#include <vector>

namespace forkpoint {

/// Chooses, of the jobs of a queue, the one a person is told about. Major jobs are announced from
/// their start to their end; minor ones only when they take long. Every announced start gets one
/// end, with its own title. A major job that is cancelled while a minor one is shown is told after
/// that one's end: what a person stopped must say so.
class JobWatch
{
public:
    enum class Kind { Major, Minor };

    static constexpr std::chrono::milliseconds MinorAfter{300};

    explicit JobWatch(std::function<void(const JobSnapshot &)> announce)
        : m_announce(std::move(announce))
    {
    }

    void added(JobId id, const std::string &title, Kind kind);
    void ended(JobId id, const std::string &title, Kind kind, JobEnd end, const Error *error);
    void sample(const std::vector<RunningJob> &running);

private:
    using Clock = std::chrono::steady_clock;

    struct End
    {
        JobId id = 0;
        std::string title;
        JobSnapshot::Phase phase = JobSnapshot::Phase::Idle;
        std::optional<Error> error;
    };

    void start(JobId id, const std::string &title);
    bool showsMinor() const;
    void tell(const End &end);
    void measureRate(const Progress &progress);

    std::function<void(const JobSnapshot &)> m_announce;
    std::map<JobId, Kind> m_kinds; ///< of the jobs that have not ended
    std::vector<End> m_untold;     ///< cancelled while a minor job was shown
    JobSnapshot m_shown;
    JobId m_shownId = 0;
    Clock::time_point m_sampledAt{};
    std::uint64_t m_sampledBytes = 0;
};

} // namespace forkpoint
