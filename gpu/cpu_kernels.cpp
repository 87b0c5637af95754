// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace forkpoint {

namespace {

kernels::Hash128 hashPortable(const std::uint8_t *data, std::size_t size)
{
    kernels::HostHashTeam team;
    return kernels::xxh3(team, data, size);
}

} // namespace

const CpuKernels &portableKernels()
{
    static constexpr CpuKernels Kernels{"scalar", hashPortable, nullptr, nullptr,
                                        nullptr,  nullptr,      nullptr};
    return Kernels;
}

#if defined(__x86_64__)
namespace {

// clang 14 has no name for F16C in __builtin_cpu_supports.
bool cpuHasF16c()
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

} // namespace
#endif

const CpuKernels &bestKernels()
{
#if defined(__x86_64__)
    static const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && cpuHasF16c();
    if (avx2)
        return avx2Kernels();
#endif
    return portableKernels();
}

} // namespace forkpoint
