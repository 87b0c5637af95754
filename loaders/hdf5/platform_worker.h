// SPDX-License-Identifier: GPL-3.0-or-later
// The system calls behind a helper process: starting it, talking to it over its one descriptor,
// ending it.
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace forkpoint {

/// The program of that name in the folder of the running program, or in the one above (a test's);
/// an empty path where there is none.
std::filesystem::path programBeside(const std::string &name);

/// A child process whose standard input is a socket to us and that inherits nothing else: no
/// descriptor, no environment. It is killed when this object goes.
class WorkerProcess
{
public:
    static Result<WorkerProcess> start(const std::filesystem::path &program);
    WorkerProcess(WorkerProcess &&other) noexcept;
    WorkerProcess &operator=(WorkerProcess &&) = delete;
    ~WorkerProcess();

    /// Hands over `bytes`, as far as the process takes them within `patience`.
    void send(ByteView bytes, std::chrono::milliseconds patience);
    enum class Wait { Ready, TimedOut, Ended };
    /// Waits until something can be received.
    Wait wait(std::chrono::milliseconds patience);
    /// Some bytes, at most `out`; 0 where the process closed its side.
    std::size_t receive(MutableByteView out);

    /// Ends the process, if it still runs, and says how it ended: "was ended by signal 11
    /// (Segmentation fault)", "ended with status 1"; "was stopped" where this call ended it.
    std::string end();

private:
    WorkerProcess(int process, int socket) : m_process(process), m_socket(socket) {}

    int m_process;
    int m_socket;
};

} // namespace forkpoint
