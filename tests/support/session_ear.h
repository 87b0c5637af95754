// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/core/session.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace forkpoint {

/// A listener of a session that keeps what a test asks for: of what it does not override it hears
/// nothing. The session's thread changes \a Heard by set(); the test's thread takes copies.
template <class Heard>
class SessionEar : public SessionListener
{
public:
    Heard heard() const
    {
        const std::lock_guard lock(m_mutex);
        return m_heard;
    }
    /// False if \a known did not become true within 20 s.
    bool waitFor(const std::function<bool(const Heard &)> &known)
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, std::chrono::seconds(20), [&] { return known(m_heard); });
    }

    void sideChanged(SessionSide, const SideSnapshot &) override {}
    void comparisonChanged(std::shared_ptr<const RunComparison>) override {}
    void stepChanged(std::optional<Step>, std::shared_ptr<const CheckpointComparison>) override {}
    void factsChanged(const PairFacts &) override {}
    void elementsReady(std::uint64_t, std::shared_ptr<const ElementPage>) override {}
    void nextDifferenceReady(std::uint64_t, std::optional<Index>) override {}
    void requestFailed(std::uint64_t, const Error &) override {}
    void jobChanged(const JobSnapshot &) override {}
    void deviceChanged(const std::string &) override {}

protected:
    template <class Change>
    void set(Change change)
    {
        const std::lock_guard lock(m_mutex);
        change(m_heard);
        m_changed.notify_all();
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    Heard m_heard;
};

} // namespace forkpoint
