// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace forkpoint {

/// Closes what the parent left open, whoever opened it there: a worker has its link and nothing else.
void closeInherited();

/// Gives up what a parser of hostile bytes must not have. Limits hold for good: address space, time
/// of the processor, no file written, no further descriptor, no core file. Where the system has
/// seccomp, only system calls that read, write and allocate remain; any other one fails. Sanitized
/// builds keep address space and system calls, which the sanitizers need.
void enterSandbox(std::uint64_t memoryBytes, std::uint64_t cpuSeconds);

} // namespace forkpoint
