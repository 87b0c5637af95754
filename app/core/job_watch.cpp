// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/job_watch.h"

#include <algorithm>

namespace forkpoint {

namespace {

bool sameProgress(const Progress &x, const Progress &y)
{
    return x.phase == y.phase && x.item == y.item && x.bytesDone == y.bytesDone
        && x.bytesTotal == y.bytesTotal && x.itemsDone == y.itemsDone
        && x.itemsTotal == y.itemsTotal;
}

JobSnapshot::Phase phaseOf(JobEnd end)
{
    switch (end) {
    case JobEnd::Finished: return JobSnapshot::Phase::Finished;
    case JobEnd::Failed: return JobSnapshot::Phase::Failed;
    case JobEnd::Cancelled: return JobSnapshot::Phase::Cancelled;
    }
    return JobSnapshot::Phase::Idle;
}

} // namespace

void JobWatch::added(JobId id, const std::string &title, Kind kind)
{
    m_kinds[id] = kind;
    if (kind == Kind::Major && m_shown.phase != JobSnapshot::Phase::Running)
        start(id, title);
}

void JobWatch::start(JobId id, const std::string &title)
{
    m_shown = {JobSnapshot::Phase::Running, title, {}, 0.0, {}};
    m_shownId = id;
    m_sampledAt = Clock::now();
    m_sampledBytes = 0;
    m_announce(m_shown);
}

void JobWatch::ended(JobId id, const std::string &title, Kind kind, JobEnd end, const Error *error)
{
    m_kinds.erase(id);
    const bool running = m_shown.phase == JobSnapshot::Phase::Running;
    const bool shown = running && m_shownId == id;
    if (!shown && (kind == Kind::Minor || (running && end == JobEnd::Cancelled)))
        return;
    if (!shown)
        start(id, title);
    m_shown.phase = phaseOf(end);
    m_shown.error.reset();
    if (error)
        m_shown.error = *error;
    m_announce(m_shown);
}

void JobWatch::sample(const std::vector<RunningJob> &running)
{
    const auto shown = std::find_if(running.begin(), running.end(),
                                    [&](const RunningJob &job) { return job.id == m_shownId; });
    if (m_shown.phase == JobSnapshot::Phase::Running) {
        if (shown == running.end() || sameProgress(shown->progress, m_shown.progress))
            return;
        measureRate(shown->progress);
        m_shown.progress = shown->progress;
        m_announce(m_shown);
        return;
    }
    for (const RunningJob &job : running) {
        const auto kind = m_kinds.find(job.id);
        if (kind == m_kinds.end() || (kind->second == Kind::Minor && job.age < MinorAfter))
            continue;
        start(job.id, job.title);
        return;
    }
}

/// Bytes a second since the job was last looked at, smoothed so that the figure can be read.
void JobWatch::measureRate(const Progress &progress)
{
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - m_sampledAt).count();
    if (seconds <= 0.0 || progress.bytesDone < m_sampledBytes)
        return;
    const double rate = double(progress.bytesDone - m_sampledBytes) / seconds;
    const bool first = m_shown.bytesPerSecond == 0.0;
    m_shown.bytesPerSecond = first ? rate : 0.8 * m_shown.bytesPerSecond + 0.2 * rate;
    m_sampledAt = now;
    m_sampledBytes = progress.bytesDone;
}

} // namespace forkpoint
