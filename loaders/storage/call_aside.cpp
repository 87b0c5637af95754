// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/call_aside.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace forkpoint {

namespace {

/// One thread that does calls for others, one at a time.
class Aide
{
public:
    /// nullptr where the system has no more threads to give.
    static std::shared_ptr<Aide> make()
    {
        const auto aide = std::make_shared<Aide>();
        try {
            std::thread([aide] { aide->serve(); }).detach();
        } catch (const std::system_error &) {
            return nullptr;
        }
        return aide;
    }

    /// False if the call was given up: then it is left alone, and so is this.
    bool run(std::function<void()> call, const Stalled &stalled)
    {
        std::unique_lock lock(m_mutex);
        m_call = std::move(call);
        m_stalled = stalled;
        m_changed.notify_all();
        if (m_changed.wait_for(lock, patience(), [this] { return !m_call; })) {
            if (m_failed)
                std::rethrow_exception(std::exchange(m_failed, nullptr));
            return true;
        }
        m_givenUp = true;
        tellGivenUp(*stalled);
        return false;
    }

    void dismiss()
    {
        const std::lock_guard lock(m_mutex);
        m_dismissed = true;
        m_changed.notify_all();
    }

private:
    void serve()
    {
        std::unique_lock lock(m_mutex);
        while (!m_givenUp) {
            m_changed.wait(lock, [this] { return m_call || m_dismissed; });
            if (!m_call)
                return;
            lock.unlock();
            std::exception_ptr failed;
            try {
                m_call();
            } catch (...) {
                failed = std::current_exception();
            }
            lock.lock();
            m_failed = failed;
            m_call = nullptr;
            m_changed.notify_all();
        }
        tellBack(*m_stalled); // it came back after all, and nobody waits
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::function<void()> m_call; ///< until it came back; touched by serve() alone meanwhile
    Stalled m_stalled;
    std::exception_ptr m_failed;
    bool m_givenUp = false, m_dismissed = false;
};

/// Those that have nothing to do.
class Aides
{
public:
    static Aides &ofThisProcess()
    {
        // Never destroyed: threads that were given up may come back while the process ends.
        static Aides *const aides = new Aides;
        return *aides;
    }

    std::shared_ptr<Aide> take()
    {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_idle.empty()) {
                auto aide = std::move(m_idle.back());
                m_idle.pop_back();
                return aide;
            }
        }
        return Aide::make();
    }

    void giveBack(std::shared_ptr<Aide> aide)
    {
        const std::lock_guard lock(m_mutex);
        if (m_idle.size() < Most)
            m_idle.push_back(std::move(aide));
        else
            aide->dismiss();
    }

private:
    Aides() { m_idle.reserve(Most); } // giving back must not throw

    static constexpr std::size_t Most = 16;
    std::mutex m_mutex;
    std::vector<std::shared_ptr<Aide>> m_idle;
};

/// Gives one back, also where the call threw.
class Leased
{
public:
    Leased() : m_aide(Aides::ofThisProcess().take()) {}
    Leased(const Leased &) = delete;
    Leased &operator=(const Leased &) = delete;
    ~Leased()
    {
        if (m_aide)
            Aides::ofThisProcess().giveBack(std::move(m_aide));
    }
    Aide *get() const { return m_aide.get(); }
    void leaveAlone() { m_aide = nullptr; }

private:
    std::shared_ptr<Aide> m_aide;
};

} // namespace

bool runAside(std::function<void()> call, const Stalled &stalled)
{
    Leased aide;
    if (!aide.get()) {
        call();
        return true;
    }
    const bool returned = aide.get()->run(std::move(call), stalled);
    if (!returned)
        aide.leaveAlone();
    return returned;
}

} // namespace forkpoint
