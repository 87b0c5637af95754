// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/worker_sandbox.h"

#include <array>
#include <cstddef>
#include <vector>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forkpoint {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool IsSanitized = true;
#else
constexpr bool IsSanitized = false;
#endif

void limit(__rlimit_resource resource, std::uint64_t most)
{
    const rlimit both{most, most};
    setrlimit(resource, &both);
}

#if defined(__x86_64__)
constexpr std::uint32_t Architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t Architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t Architecture = 0;
#endif

/// What is left: the socket, memory, time, ending.
constexpr std::array Allowed = {
    SYS_read,         SYS_write,          SYS_recvfrom,      SYS_sendto,       SYS_brk,
    SYS_munmap,       SYS_mremap,         SYS_madvise,       SYS_futex,        SYS_rt_sigaction,
    SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_clock_gettime, SYS_gettimeofday, SYS_getpid,
    SYS_gettid,       SYS_tgkill,         SYS_exit,          SYS_exit_group,   SYS_restart_syscall,
    SYS_getrandom,    SYS_close,
};
/// Allowed as long as no memory becomes executable.
constexpr std::array WithProtection = {SYS_mmap, SYS_mprotect};

sock_filter statement(std::uint16_t code, std::uint32_t operand)
{
    return {code, 0, 0, operand};
}

sock_filter jumpIf(std::uint16_t test, std::uint32_t operand, std::uint8_t then, std::uint8_t other)
{
    return {std::uint16_t(BPF_JMP | test | BPF_K), then, other, operand};
}

std::vector<sock_filter> systemCallFilter()
{
    constexpr std::uint16_t Load = BPF_LD | BPF_W | BPF_ABS;
    constexpr std::uint16_t Return = BPF_RET | BPF_K;
    const sock_filter refuse = statement(Return, SECCOMP_RET_ERRNO | EPERM);
    const sock_filter allow = statement(Return, SECCOMP_RET_ALLOW);
    std::vector<sock_filter> program = {
        statement(Load, offsetof(seccomp_data, arch)),
        jumpIf(BPF_JEQ, Architecture, 1, 0),
        statement(Return, SECCOMP_RET_KILL_PROCESS),
        statement(Load, offsetof(seccomp_data, nr)),
    };
    for (const long call : Allowed) {
        program.push_back(jumpIf(BPF_JEQ, std::uint32_t(call), 0, 1));
        program.push_back(allow);
    }
    for (const long call : WithProtection) {
        program.push_back(jumpIf(BPF_JEQ, std::uint32_t(call), 0, 4));
        program.push_back(
            statement(Load, offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)));
        program.push_back(jumpIf(BPF_JSET, PROT_EXEC, 0, 1));
        program.push_back(refuse);
        program.push_back(allow);
    }
    program.push_back(refuse);
    return program;
}

void restrictSystemCalls()
{
    if (Architecture == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    std::vector<sock_filter> filter = systemCallFilter();
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    // A kernel without seccomp leaves the limits.
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

} // namespace

void closeInherited()
{
    // A kernel older than the call leaves what the parent did not mark to be closed; nothing of ours.
    ::syscall(SYS_close_range, 3u, ~0u, 0u);
}

void enterSandbox(std::uint64_t memoryBytes, std::uint64_t cpuSeconds)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, 3);
    limit(RLIMIT_CPU, cpuSeconds);
    if (IsSanitized)
        return;
    limit(RLIMIT_AS, memoryBytes);
    restrictSystemCalls();
}

} // namespace forkpoint
