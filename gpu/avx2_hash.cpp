// SPDX-License-Identifier: GPL-3.0-or-later
// XXH3 with four accumulators a register. Compiled for AVX2.
#include "gpu/avx2_kernels.h"

#include <immintrin.h>

namespace forkpoint::avx2 {

namespace {

__m256i load(const void *data)
{
    return _mm256_loadu_si256(static_cast<const __m256i *>(data));
}

/// The default secret where vectors can be loaded from any of its bytes.
struct Secret
{
    std::uint64_t words[24];

    Secret()
    {
        for (std::size_t i = 0; i < 24; ++i)
            words[i] = kernels::secretWord(i);
    }
    __m256i at(std::size_t byte) const
    {
        return load(reinterpret_cast<const std::uint8_t *>(words) + byte);
    }
};

/// kernels::accumulate() of four lanes.
__m256i accumulate(__m256i sum, __m256i data, __m256i key)
{
    const __m256i mixed = _mm256_xor_si256(data, key);
    const __m256i product = _mm256_mul_epu32(mixed, _mm256_srli_epi64(mixed, 32));
    const __m256i neighbour = _mm256_shuffle_epi32(data, _MM_SHUFFLE(1, 0, 3, 2));
    return _mm256_add_epi64(_mm256_add_epi64(sum, neighbour), product);
}

/// kernels::scramble() of four lanes: a product of 64 by 32 bits in two halves.
__m256i scramble(__m256i sum, __m256i key)
{
    const __m256i prime = _mm256_set1_epi64x(static_cast<long long>(kernels::Prime32_1));
    const __m256i mixed = _mm256_xor_si256(_mm256_xor_si256(sum, _mm256_srli_epi64(sum, 47)), key);
    const __m256i low = _mm256_mul_epu32(mixed, prime);
    const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(mixed, 32), prime);
    return _mm256_add_epi64(low, _mm256_slli_epi64(high, 32));
}

kernels::Hash128 hashLong(const std::uint8_t *data, std::size_t size)
{
    static const Secret secret;
    std::uint64_t sums[kernels::HashLanes];
    for (int lane = 0; lane < kernels::HashLanes; ++lane)
        sums[lane] = kernels::initialAccumulator(lane);
    __m256i low = load(sums);
    __m256i high = load(sums + 4);
    const auto add = [&](const std::uint8_t *stripe, std::size_t key) {
        low = accumulate(low, load(stripe), secret.at(key));
        high = accumulate(high, load(stripe + 32), secret.at(key + 32));
    };
    const std::size_t blocks = (size - 1) / kernels::HashBlockBytes;
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::uint8_t *start = data + block * kernels::HashBlockBytes;
#pragma GCC unroll 16
        for (std::size_t stripe = 0; stripe < kernels::StripesPerBlock; ++stripe) {
            _mm_prefetch(start + stripe * kernels::StripeBytes + 512, _MM_HINT_T0);
            add(start + stripe * kernels::StripeBytes, 8 * stripe);
        }
        low = scramble(low, secret.at(128));
        high = scramble(high, secret.at(160));
    }
    const std::uint8_t *rest = data + blocks * kernels::HashBlockBytes;
    const std::size_t left = size - 1 - blocks * kernels::HashBlockBytes;
    for (std::size_t stripe = 0; stripe < left / kernels::StripeBytes; ++stripe)
        add(rest + stripe * kernels::StripeBytes, 8 * stripe);
    add(data + size - kernels::StripeBytes, 121);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(sums), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(sums + 4), high);
    return {kernels::mergeAccumulators(sums, 11, size * kernels::Prime64_1),
            kernels::mergeAccumulators(sums, 117, ~(size * kernels::Prime64_2))};
}

} // namespace

kernels::Hash128 hash(const std::uint8_t *data, std::size_t size)
{
    return size <= kernels::ShortInput ? kernels::hashShort(data, size) : hashLong(data, size);
}

} // namespace forkpoint::avx2
