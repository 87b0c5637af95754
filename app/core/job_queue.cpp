// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/job_queue.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>

namespace forkpoint {

using Clock = std::chrono::steady_clock;

namespace {

struct Record
{
    enum class Phase { Queued, InBatch, Ended };

    JobId id = 0;
    Job job;
    std::stop_source stop;
    Phase phase = Phase::Queued;              ///< guarded by the queue's mutex
    std::optional<Clock::time_point> started; ///< likewise
    Progress progress;                        ///< likewise
    bool endDelivered = false;                ///< the loop's thread only
};

using RecordPtr = std::shared_ptr<Record>;

/// Which thread is the worker. An abandoned one sees that the number has moved on.
using Generation = std::uint64_t;

} // namespace

struct JobQueue::State : std::enable_shared_from_this<JobQueue::State>
{
    State(TaskLoop &taskLoop, std::chrono::milliseconds wait) : loop(&taskLoop), patience(wait) {}

    std::mutex mutex;
    std::condition_variable offered; ///< a job was queued, or the generation moved on
    std::condition_variable rested;  ///< the worker returned from a batch or left
    TaskLoop *loop;                  ///< null once the queue is gone
    std::chrono::milliseconds patience;
    std::array<std::deque<RecordPtr>, 2> lanes;
    RecordPtr current; ///< in a batch now
    Generation generation = 0;
    bool closing = false;
    std::size_t strays = 0; ///< threads that were given up and have not left
    std::thread worker;
    JobId lastId = 0;
    std::function<void()> abandoned;

    void startWorker();
    void serve(Generation mine);
    void leave(Generation mine);
    RecordPtr take();
    Result<Batch> runBatch(const RecordPtr &record);
    void settle(const RecordPtr &record, Result<Batch> result);
    void end(const RecordPtr &record, JobEnd how, std::optional<Error> error);
    void requestStop(const RecordPtr &record);
    void cancel(const RecordPtr &record);
    void abandon(const RecordPtr &record);
    std::vector<RecordPtr> unended() const;
};

namespace {

class Control final : public JobControl
{
public:
    Control(std::mutex &mutex, TaskLoop *const &loop, RecordPtr record)
        : m_mutex(mutex),
          m_loop(loop),
          m_record(std::move(record))
    {
    }

    std::stop_token stop() const override { return m_record->stop.get_token(); }
    void report(const Progress &progress) override
    {
        const std::lock_guard lock(m_mutex);
        m_record->progress = progress;
    }
    void post(std::function<void()> task) override
    {
        const std::lock_guard lock(m_mutex);
        if (!m_loop || m_record->phase == Record::Phase::Ended)
            return;
        m_loop->post([record = m_record, task = std::move(task)] {
            if (!record->endDelivered)
                task();
        });
    }

private:
    std::mutex &m_mutex;
    TaskLoop *const &m_loop;
    RecordPtr m_record;
};

} // namespace

/// Needs the mutex.
void JobQueue::State::startWorker()
{
    worker = std::thread([self = shared_from_this(), mine = generation] {
        self->serve(mine);
        self->leave(mine);
    });
}

/// A thread that was given up has come back after all, and let go of what it held.
void JobQueue::State::leave(Generation mine)
{
    const std::lock_guard lock(mutex);
    if (mine == generation)
        return;
    --strays;
    rested.notify_all();
}

/// The next job: interactive before background, in turn within a lane. Needs the mutex.
RecordPtr JobQueue::State::take()
{
    for (std::deque<RecordPtr> &lane : lanes) {
        if (lane.empty())
            continue;
        RecordPtr record = std::move(lane.front());
        lane.pop_front();
        return record;
    }
    return nullptr;
}

void JobQueue::State::serve(Generation mine)
{
    std::unique_lock lock(mutex);
    while (mine == generation && !closing) {
        RecordPtr record = take();
        if (!record) {
            offered.wait(lock);
            continue;
        }
        current = record;
        record->phase = Record::Phase::InBatch;
        if (!record->started)
            record->started = Clock::now();
        lock.unlock();
        Result<Batch> result = runBatch(record);
        lock.lock();
        if (mine != generation)
            return; // given up meanwhile; the result is nobody's
        current.reset();
        settle(record, std::move(result));
        rested.notify_all();
        std::function<Result<Batch>(JobControl &)> over;
        if (record->phase == Record::Phase::Ended)
            over = std::move(record->job.batch);
        lock.unlock();
        over = nullptr; // what an ended job holds is let go of here, not by the loop
        record.reset();
        lock.lock();
    }
    rested.notify_all();
}

Result<Batch> JobQueue::State::runBatch(const RecordPtr &record)
{
    Control control(mutex, loop, record);
    try {
        return record->job.batch(control);
    } catch (const std::bad_alloc &) { // this job fails, the next ones may need less
        return Error{ErrorCode::Limit, {}, {}, "needs more memory than there is"};
    }
}

/// What follows from a batch's result. A job asked to stop has been cancelled, whatever its last
/// batch says: a partial result would look like a whole one. Needs the mutex.
void JobQueue::State::settle(const RecordPtr &record, Result<Batch> result)
{
    if (record->stop.stop_requested()) {
        end(record, JobEnd::Cancelled, {});
    } else if (!result.ok()) {
        end(record, JobEnd::Failed, std::move(result).error());
    } else if (*result == Batch::Done) {
        end(record, JobEnd::Finished, {});
    } else {
        record->phase = Record::Phase::Queued;
        lanes[std::size_t(record->job.lane)].push_back(record);
    }
}

/// The one place where jobs end. Needs the mutex.
void JobQueue::State::end(const RecordPtr &record, JobEnd how, std::optional<Error> error)
{
    if (record->phase == Record::Phase::Ended)
        return;
    record->phase = Record::Phase::Ended;
    if (!loop)
        return;
    loop->post([record, how, error = std::move(error)] {
        record->endDelivered = true;
        if (record->job.ended)
            record->job.ended(how, error ? &*error : nullptr);
    });
}

/// A batch that runs ends when it looks at its token, others at once. Needs the mutex.
void JobQueue::State::requestStop(const RecordPtr &record)
{
    record->stop.request_stop();
    if (record->phase == Record::Phase::InBatch)
        return;
    std::erase(lanes[std::size_t(record->job.lane)], record);
    end(record, JobEnd::Cancelled, {});
}

/// As requestStop(), and gives the worker up if it does not come back. Needs the mutex.
void JobQueue::State::cancel(const RecordPtr &record)
{
    requestStop(record);
    if (record->phase == Record::Phase::InBatch)
        loop->postAfter(patience, [self = shared_from_this(), record] { self->abandon(record); });
}

/// Goes on without a thread that did not come back.
void JobQueue::State::abandon(const RecordPtr &record)
{
    {
        const std::lock_guard lock(mutex);
        if (record->phase != Record::Phase::InBatch || current != record)
            return;
        ++generation;
        ++strays;
        current.reset();
        worker.detach();
        end(record, JobEnd::Cancelled, {});
        rested.notify_all();
        if (!closing)
            startWorker();
    }
    if (abandoned)
        abandoned();
}

/// Needs the mutex.
std::vector<RecordPtr> JobQueue::State::unended() const
{
    std::vector<RecordPtr> records;
    if (current)
        records.push_back(current);
    for (const std::deque<RecordPtr> &lane : lanes)
        records.insert(records.end(), lane.begin(), lane.end());
    std::sort(records.begin(), records.end(),
              [](const RecordPtr &x, const RecordPtr &y) { return x->id < y->id; });
    return records;
}

JobQueue::JobQueue(TaskLoop &loop, std::chrono::milliseconds patience)
    : m_state(std::make_shared<State>(loop, patience))
{
    const std::lock_guard lock(m_state->mutex);
    m_state->startWorker();
}

JobQueue::~JobQueue()
{
    shutdown(std::chrono::milliseconds(0));
    const std::lock_guard lock(m_state->mutex);
    m_state->loop = nullptr;
}

JobId JobQueue::add(Job job)
{
    auto record = std::make_shared<Record>();
    record->job = std::move(job);
    const std::lock_guard lock(m_state->mutex);
    for (const RecordPtr &older : m_state->unended())
        if (!record->job.tag.empty() && older->job.tag == record->job.tag)
            m_state->requestStop(older);
    record->id = ++m_state->lastId;
    if (m_state->closing) {
        m_state->end(record, JobEnd::Cancelled, {});
        return record->id;
    }
    m_state->lanes[std::size_t(record->job.lane)].push_back(record);
    m_state->offered.notify_all();
    return record->id;
}

void JobQueue::cancel(JobId id)
{
    const std::lock_guard lock(m_state->mutex);
    for (const RecordPtr &record : m_state->unended())
        if (record->id == id)
            m_state->cancel(record);
}

void JobQueue::cancelTag(const std::string &tag)
{
    const std::lock_guard lock(m_state->mutex);
    for (const RecordPtr &record : m_state->unended())
        if (record->job.tag == tag)
            m_state->cancel(record);
}

void JobQueue::cancelAll()
{
    const std::lock_guard lock(m_state->mutex);
    for (const RecordPtr &record : m_state->unended())
        m_state->cancel(record);
}

std::vector<RunningJob> JobQueue::running() const
{
    const std::lock_guard lock(m_state->mutex);
    std::vector<RunningJob> jobs;
    for (const RecordPtr &record : m_state->unended()) {
        if (!record->started)
            continue;
        const auto age =
            std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *record->started);
        jobs.push_back({record->id, record->job.title, record->progress, age});
    }
    return jobs;
}

bool JobQueue::idle() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->unended().empty();
}

bool JobQueue::hasTag(const std::string &tag) const
{
    const std::lock_guard lock(m_state->mutex);
    const std::vector<RecordPtr> records = m_state->unended();
    return std::any_of(records.begin(), records.end(),
                       [&](const RecordPtr &record) { return record->job.tag == tag; });
}

void JobQueue::setAbandoned(std::function<void()> abandoned)
{
    m_state->abandoned = std::move(abandoned);
}

bool JobQueue::shutdown(std::chrono::milliseconds timeout)
{
    std::unique_lock lock(m_state->mutex);
    m_state->closing = true;
    for (const RecordPtr &record : m_state->unended()) {
        record->stop.request_stop();
        if (record->phase == Record::Phase::Queued)
            m_state->end(record, JobEnd::Cancelled, {});
    }
    for (std::deque<RecordPtr> &lane : m_state->lanes)
        lane.clear();
    m_state->offered.notify_all();
    m_state->rested.wait_for(lock, timeout,
                             [&] { return !m_state->current && m_state->strays == 0; });
    const bool hasStrays = m_state->strays > 0;
    if (!m_state->current) {
        std::thread worker = std::move(m_state->worker);
        lock.unlock();
        if (worker.joinable())
            worker.join();
        return !hasStrays;
    }
    ++m_state->generation;
    ++m_state->strays;
    m_state->end(m_state->current, JobEnd::Cancelled, {});
    m_state->current.reset();
    m_state->worker.detach();
    return false;
}

} // namespace forkpoint
