// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_kernels.h"

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

const CpuKernels &bestKernels()
{
#if defined(__x86_64__)
    static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
        && __builtin_cpu_supports("f16c");
    if (avx2)
        return avx2Kernels();
#endif
    return portableKernels();
}

} // namespace forkpoint
