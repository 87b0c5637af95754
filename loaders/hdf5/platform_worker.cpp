// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/platform_worker.h"

#include "loaders/storage/platform_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// What posix_spawn is to do in the child, freed in any case.
class SpawnPlan
{
public:
    SpawnPlan()
    {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    SpawnPlan(const SpawnPlan &) = delete;
    SpawnPlan &operator=(const SpawnPlan &) = delete;
    ~SpawnPlan()
    {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }

    /// Returns an errno.
    int prepare(int socket)
    {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        // Our own descriptors close by themselves when the program is there, and the worker closes any others:
        // here, before it is, closing one of a mount that does not answer would hold up this process.
        const std::array<int, 6> steps = {
            posix_spawn_file_actions_adddup2(&actions, socket, 0),
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0),
            posix_spawn_file_actions_adddup2(&actions, 1, 2),
            posix_spawnattr_setsigmask(&attributes, &none),
            posix_spawnattr_setsigdefault(&attributes, &all),
            posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF),
        };
        for (const int error : steps) {
            if (error != 0)
                return error;
        }
        return 0;
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

Error cannotStart(const fs::path &program, int error)
{
    return {ErrorCode::Io,
            program.string(),
            {},
            "cannot be started: " + std::generic_category().message(error)};
}

} // namespace

fs::path programBeside(const std::string &name)
{
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    if (error)
        return {};
    for (const fs::path &folder : {own.parent_path(), own.parent_path().parent_path()}) {
        if (fs::is_regular_file(folder / name, error))
            return folder / name;
    }
    return {};
}

Result<WorkerProcess> WorkerProcess::start(const fs::path &program)
{
    std::array<int, 2> ends = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return cannotStart(program, errno);
    const Descriptor childEnd(ends[1]);
    SpawnPlan plan;
    pid_t process = -1;
    int error = plan.prepare(childEnd.get());
    std::string path = program.string();
    const std::array<char *, 2> arguments = {path.data(), nullptr};
    const std::array<char *, 1> environment = {nullptr};
    if (error == 0) {
        error = posix_spawn(&process, path.c_str(), &plan.actions, &plan.attributes,
                            arguments.data(), environment.data());
    }
    if (error != 0) {
        close(ends[0]);
        return cannotStart(program, error);
    }
    return WorkerProcess(process, ends[0]);
}

WorkerProcess::WorkerProcess(WorkerProcess &&other) noexcept
    : m_process(std::exchange(other.m_process, -1)),
      m_socket(std::exchange(other.m_socket, -1))
{
}

WorkerProcess::~WorkerProcess()
{
    if (m_process >= 0)
        kill(m_process, SIGKILL); // it has told everything, or nobody asks how it ends
    end();
}

void WorkerProcess::send(ByteView bytes, std::chrono::milliseconds patience)
{
    while (!bytes.empty()) {
        pollfd socket{m_socket, POLLOUT, 0};
        const int ready = poll(&socket, 1, int(patience.count()));
        if (ready == 0 || (ready < 0 && errno != EINTR))
            return;
        const ssize_t sent =
            ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EINTR && errno != EAGAIN)
            return;
        bytes = bytes.subspan(std::size_t(std::max<ssize_t>(sent, 0)));
    }
}

WorkerProcess::Wait WorkerProcess::wait(std::chrono::milliseconds patience)
{
    pollfd socket{m_socket, POLLIN, 0};
    const int ready = poll(&socket, 1, int(patience.count()));
    if (ready > 0)
        return Wait::Ready;
    return ready == 0 || errno == EINTR ? Wait::TimedOut : Wait::Ended;
}

std::size_t WorkerProcess::receive(MutableByteView out)
{
    ssize_t received = -1;
    do {
        received = recv(m_socket, out.data(), out.size(), 0);
    } while (received < 0 && errno == EINTR);
    return received > 0 ? std::size_t(received) : 0;
}

std::string WorkerProcess::end()
{
    if (m_process < 0)
        return {};
    close(std::exchange(m_socket, -1));
    const pid_t process = std::exchange(m_process, -1);
    int status = 0;
    // One that just closed its side may need a moment to be gone.
    constexpr int Tries = 50;
    constexpr useconds_t Pause = 2000;
    pid_t gone = 0;
    for (int i = 0; i < Tries && (gone = waitpid(process, &status, WNOHANG)) == 0; ++i)
        usleep(Pause);
    if (gone == 0) {
        kill(process, SIGKILL);
        while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
        return "was stopped";
    }
    if (WIFSIGNALED(status)) {
        return "was ended by signal " + std::to_string(WTERMSIG(status)) + " ("
            + strsignal(WTERMSIG(status)) + ")";
    }
    return "ended with status " + std::to_string(WEXITSTATUS(status));
}

} // namespace forkpoint
