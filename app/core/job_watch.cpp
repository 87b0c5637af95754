// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/job_watch.h"

#include <algorithm>
#include <utility>

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

bool JobWatch::showsMinor() const
{
    const auto shown = m_kinds.find(m_shownId);
    return shown != m_kinds.end() && shown->second == Kind::Minor;
}

void JobWatch::ended(JobId id, const std::string &title, Kind kind, JobEnd end, const Error *error)
{
    const bool minorShown = showsMinor();
    m_kinds.erase(id);
    const bool running = m_shown.phase == JobSnapshot::Phase::Running;
    const bool shown = running && m_shownId == id;
    const End ending{id, title, phaseOf(end), error ? std::optional(*error) : std::nullopt};
    if (!shown && running && kind == Kind::Major && end == JobEnd::Cancelled && minorShown)
        m_untold.push_back(ending);
    if (!shown && (kind == Kind::Minor || (running && end == JobEnd::Cancelled)))
        return;
    tell(ending);
    for (const End &untold : std::exchange(m_untold, {}))
        tell(untold);
}

void JobWatch::tell(const End &end)
{
    if (m_shown.phase != JobSnapshot::Phase::Running || m_shownId != end.id)
        start(end.id, end.title);
    m_shown.phase = end.phase;
    m_shown.error = end.error;
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
