// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/unfinished_files.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>

#include <unistd.h>

namespace forkpoint {

namespace {

struct Slot
{
    std::atomic<bool> used = false; ///< the handler reads the path only where this is set
    std::array<char, 4096> path{};
};

static_assert(std::atomic<bool>::is_always_lock_free, "read by a signal handler");
std::array<Slot, 16> slots;
std::mutex slotsMutex; ///< among those who remember and forget; never the handler

/// Calls only what POSIX lists as async-signal-safe.
extern "C" void removeAndEnd(int signal)
{
    for (const Slot &slot : slots) {
        if (slot.used.load(std::memory_order_acquire))
            unlink(slot.path.data());
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

} // namespace

void removeUnfinishedFilesOnSignals()
{
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        // nohup and shells that start a job in the background have it ignored: so it stays
        if (std::signal(signal, removeAndEnd) == SIG_IGN)
            std::signal(signal, SIG_IGN);
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

void rememberUnfinishedFile(const std::string &path)
{
    const std::lock_guard lock(slotsMutex);
    for (Slot &slot : slots) {
        if (slot.used.load(std::memory_order_relaxed) || path.size() >= slot.path.size())
            continue;
        std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
        slot.used.store(true, std::memory_order_release);
        return;
    }
}

void forgetUnfinishedFile(const std::string &path)
{
    const std::lock_guard lock(slotsMutex);
    for (Slot &slot : slots) {
        if (slot.used.load(std::memory_order_relaxed) && path == slot.path.data())
            slot.used.store(false, std::memory_order_release);
    }
}

} // namespace forkpoint
