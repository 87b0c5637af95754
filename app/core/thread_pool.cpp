// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/thread_pool.h"

#include "loaders/storage/read_watch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace forkpoint {

namespace {

/// How often those who wait look whether somebody is stuck.
constexpr std::chrono::milliseconds Look{100};

/// One call of forEach(). `work` outlives every piece that ends, because forEach() waits for them.
struct Round
{
    std::size_t count = 0;
    const std::function<void(std::size_t)> *work = nullptr;
    // Guarded by the pool's mutex:
    std::size_t next = 0;
    std::size_t ended = 0;
    std::vector<std::size_t> again; ///< whose thread was given up
    std::map<std::size_t, std::shared_ptr<ReadWait>> running;
    std::exception_ptr failed; ///< what the first piece that failed threw
    std::shared_ptr<ReadWait> caller;

    bool exhausted() const { return next >= count && again.empty(); }
    std::size_t claim()
    {
        if (again.empty())
            return next++;
        const std::size_t piece = again.back();
        again.pop_back();
        return piece;
    }
};

struct Worker
{
    std::thread thread;
    std::shared_ptr<ReadWait> wait;
    bool standsIn = false;      ///< for one caller of forEach() at a time; the others serve all
    std::shared_ptr<Round> own; ///< of that caller
};

} // namespace

struct ThreadPool::State
{
    std::mutex mutex;
    std::condition_variable offered;            ///< a round was added, or the pool closes
    std::condition_variable ended;              ///< some round came to its end
    std::deque<std::shared_ptr<Round>> rounds;  ///< with pieces to begin
    std::vector<std::shared_ptr<Round>> called; ///< that somebody waits for
    /// Whose callers were given up: no piece of them is begun any more, but some may be stuck, too.
    std::vector<std::shared_ptr<Round>> orphans;
    bool closing = false;
    std::size_t size = 0;
    std::list<Worker> workers;

    // The mutex is held for each of these, or nobody knows the pool yet.
    bool isWorker() const;
    bool addWorker(std::shared_ptr<Round> own);
    bool standIn(const std::shared_ptr<Round> &round);
    void work(const std::shared_ptr<Round> &round, std::unique_lock<std::mutex> &lock);
    void giveUpStuck(const std::shared_ptr<Round> &round);
    void giveUpOrphans();
    void replace(const std::shared_ptr<ReadWait> &stuck);
    void orphan(const std::shared_ptr<ReadWait> &caller);

    void serve(Worker &self);
};

/// Whether the calling thread is one of the pool's.
bool ThreadPool::State::isWorker() const
{
    const auto mine = ReadWait::ofThisThread();
    return std::any_of(workers.begin(), workers.end(),
                       [&](const Worker &worker) { return worker.wait == mine; });
}

/// `own`: whose caller it stands in for; nullptr for one that serves all. False where the system has no
/// more threads to give.
bool ThreadPool::State::addWorker(std::shared_ptr<Round> own)
{
    const std::size_t before = workers.size();
    try {
        Worker &worker = workers.emplace_back();
        worker.standsIn = own != nullptr;
        worker.own = std::move(own);
        std::promise<std::shared_ptr<ReadWait>> begun;
        auto wait = begun.get_future();
        worker.thread = std::thread([this, &worker, said = std::move(begun)]() mutable {
            ReadWait::ofThisThread()->setExpendable();
            said.set_value(ReadWait::ofThisThread());
            serve(worker);
        });
        worker.wait = wait.get();
        return true;
    } catch (const std::exception &) { // no thread, or no memory for one
        if (workers.size() > before)
            workers.pop_back();
        return false;
    }
}

/// Has a thread do what the caller of forEach() would, who could not be given up.
bool ThreadPool::State::standIn(const std::shared_ptr<Round> &round)
{
    for (Worker &worker : workers) {
        if (worker.standsIn && !worker.own) {
            worker.own = round;
            return true;
        }
    }
    return addWorker(round);
}

/// Does pieces of a round until none is left to begin.
void ThreadPool::State::work(const std::shared_ptr<Round> &round,
                             std::unique_lock<std::mutex> &lock)
{
    while (!round->exhausted()) {
        const std::size_t piece = round->claim();
        std::exception_ptr failed;
        // Memory that is not there must not end the program from a thread of the pool.
        try {
            round->running[piece] = ReadWait::ofThisThread();
            lock.unlock();
            (*round->work)(piece);
        } catch (...) {
            failed = std::current_exception();
        }
        if (!lock.owns_lock())
            lock.lock();
        round->running.erase(piece);
        if (failed && !round->failed)
            round->failed = failed;
        if (++round->ended == round->count)
            ended.notify_all();
    }
}

void ThreadPool::State::serve(Worker &self)
{
    std::unique_lock lock(mutex);
    while (true) {
        std::erase_if(rounds, [](const auto &round) { return round->exhausted(); });
        if (self.own) {
            work(self.own, lock);
            self.own = nullptr;
        } else if (!self.standsIn && !rounds.empty()) {
            const std::shared_ptr<Round> round = rounds.front();
            work(round, lock);
        } else if (closing) {
            return;
        } else {
            offered.wait(lock);
        }
    }
}

void ThreadPool::State::giveUpStuck(const std::shared_ptr<Round> &round)
{
    for (auto each = round->running.begin(); each != round->running.end();) {
        const auto [piece, wait] = *each;
        if (!wait->giveUp()) {
            ++each;
            continue;
        }
        each = round->running.erase(each);
        if (round->exhausted())
            rounds.push_back(round); // nobody looks for its pieces any more
        round->again.push_back(piece);
        replace(wait);
    }
    giveUpOrphans();
}

/// Lets a thread that was given up go and puts another in its place.
void ThreadPool::State::replace(const std::shared_ptr<ReadWait> &stuck)
{
    orphan(stuck);
    for (const std::shared_ptr<Round> &round : orphans)
        std::erase_if(round->running, [&](const auto &each) { return each.second == stuck; });
    const auto worker = std::find_if(workers.begin(), workers.end(),
                                     [&](const Worker &each) { return each.wait == stuck; });
    if (worker == workers.end())
        return;
    worker->thread.detach();
    const std::shared_ptr<Round> own = worker->own;
    workers.erase(worker); // the thread itself never looks there again
    if (own)
        standIn(own);
    else
        addWorker(nullptr);
}

/// What a thread called that was given up is nobody's any more: the piece that called it is begun anew.
void ThreadPool::State::orphan(const std::shared_ptr<ReadWait> &caller)
{
    std::erase_if(called, [&](const std::shared_ptr<Round> &round) {
        if (round->caller != caller)
            return false;
        round->next = round->count;
        round->again.clear();
        orphans.push_back(round);
        return true;
    });
}

void ThreadPool::State::giveUpOrphans()
{
    for (std::size_t i = 0; i < orphans.size(); ++i) { // it may grow meanwhile
        std::vector<std::shared_ptr<ReadWait>> stuck;
        for (const auto &[piece, wait] : orphans[i]->running) {
            if (wait->giveUp())
                stuck.push_back(wait);
        }
        for (const std::shared_ptr<ReadWait> &wait : stuck)
            replace(wait);
    }
    std::erase_if(orphans, [](const auto &round) { return round->running.empty(); });
}

std::size_t hardwareThreads()
{
    return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(std::size_t threads) : m_state(std::make_unique<State>())
{
    m_state->size = threads == 0 ? hardwareThreads() : threads;
    while (m_state->workers.size() + 1 < m_state->size && m_state->addWorker(nullptr)) {}
    m_state->size = m_state->workers.size() + 1; // the system may have no more threads to give
}

ThreadPool::~ThreadPool()
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->closing = true;
    }
    m_state->offered.notify_all();
    std::unique_lock lock(m_state->mutex);
    for (m_state->giveUpOrphans(); !m_state->orphans.empty(); m_state->giveUpOrphans())
        m_state->ended.wait_for(lock, Look);
    lock.unlock();
    for (Worker &worker : m_state->workers)
        worker.thread.join();
}

std::size_t ThreadPool::threadCount() const
{
    return m_state->size;
}

void ThreadPool::forEach(std::size_t count, const std::function<void(std::size_t)> &work)
{
    if (count == 0)
        return;
    const auto round = std::make_shared<Round>();
    round->count = count;
    round->work = &work;
    round->caller = ReadWait::ofThisThread();
    std::unique_lock lock(m_state->mutex);
    m_state->rounds.push_back(round);
    m_state->called.push_back(round);
    bool works = m_state->isWorker() || !m_state->standIn(round);
    m_state->offered.notify_all();
    auto looked = std::chrono::steady_clock::now();
    while (round->ended < count) {
        if (works && !round->exhausted()) {
            m_state->work(round, lock);
            continue;
        }
        m_state->ended.wait_for(lock, Look);
        const auto now = std::chrono::steady_clock::now();
        if (now - looked < Look)
            continue; // woken by the end of another's round
        looked = now;
        m_state->giveUpStuck(round);
        if (!works && !round->exhausted() && round->running.empty())
            works = !m_state->standIn(round); // nobody is left who would begin its pieces
        m_state->offered.notify_all();
    }
    std::erase(m_state->rounds, round);
    std::erase(m_state->called, round);
    lock.unlock();
    if (round->failed)
        std::rethrow_exception(round->failed);
}

void ThreadPool::forEachOnce(std::size_t count, const std::function<void(std::size_t)> &work)
{
    forEach(count, [&work](std::size_t i) {
        const NeededHere needed;
        work(i);
    });
}

} // namespace forkpoint
