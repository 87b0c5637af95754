// SPDX-License-Identifier: GPL-3.0-or-later
// The table of AVX2, and the kernel of 8-bit types. Compiled for AVX2.
#include "gpu/avx2_kernels.h"

#include <immintrin.h>

namespace forkpoint::avx2 {

void countPairs(const std::uint8_t *a, const std::uint8_t *b, std::size_t size, std::uint16_t *even,
                std::uint16_t *odd)
{
    std::size_t i = 0;
    for (; i + 32 <= size; i += 32) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(a + i));
        const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(b + i));
        alignas(32) std::uint64_t pairs[8]; // four of 16 bits each
        _mm256_store_si256(reinterpret_cast<__m256i *>(pairs), _mm256_unpacklo_epi8(x, y));
        _mm256_store_si256(reinterpret_cast<__m256i *>(pairs + 4), _mm256_unpackhi_epi8(x, y));
#pragma GCC unroll 8
        for (int word = 0; word < 8; ++word) {
            const std::uint64_t four = pairs[word];
            ++even[four & 0xFFFF];
            ++odd[(four >> 16) & 0xFFFF];
            ++even[(four >> 32) & 0xFFFF];
            ++odd[four >> 48];
        }
    }
    for (; i < size; ++i)
        ++(i % 2 == 0 ? even : odd)[a[i] | b[i] << 8];
}

} // namespace forkpoint::avx2

namespace forkpoint {

const CpuKernels &avx2Kernels()
{
    static constexpr CpuKernels Kernels{"AVX2",
                                        avx2::hash,
                                        avx2::diffFloat64,
                                        avx2::diffFloat32,
                                        avx2::diffBFloat16,
                                        avx2::diffFloat16,
                                        avx2::countPairs};
    return Kernels;
}

} // namespace forkpoint
