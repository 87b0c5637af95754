// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/element_codec.h"

#include <immintrin.h>

// The float formats of the block kernels, for translation units compiled with AVX2, FMA and F16C.
// Everything is in an unnamed namespace: such code must not become what other units call.

namespace forkpoint::avx2 {

namespace {

constexpr int GroupParts = 8; ///< parts handled at once

/// Eight parts as float64.
struct Group
{
    __m256d low, high;
};

inline __m256i loadBits(const std::uint8_t *data)
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(data));
}

inline __m128i loadHalf(const std::uint8_t *data)
{
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(data));
}

/// The largest of the lanes, unsigned.
template <class Lane>
inline std::uint32_t largestLane(__m256i lanes)
{
    alignas(32) Lane values[32 / sizeof(Lane)];
    _mm256_store_si256(reinterpret_cast<__m256i *>(values), lanes);
    std::uint32_t largest = 0;
    for (const Lane value : values)
        largest = value > largest ? value : largest;
    return largest;
}

template <class Lane>
inline std::uint32_t sumOfLanes(__m256i lanes)
{
    alignas(32) Lane values[32 / sizeof(Lane)];
    _mm256_store_si256(reinterpret_cast<__m256i *>(values), lanes);
    std::uint32_t sum = 0;
    for (const Lane value : values)
        sum += value;
    return sum;
}

/// Sign-magnitude codes in lanes of 32 bits.
struct Lanes32
{
    using Raw = std::uint32_t;
    static constexpr int Parts = 8; ///< of a vector

    static __m256i set(std::uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }
    static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi32(a, b); }
    static __m256i subtract(__m256i a, __m256i b) { return _mm256_sub_epi32(a, b); }
    static __m256i add(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
    /// a where b is positive, -a where it is negative, 0 where it is 0.
    static __m256i signedBy(__m256i a, __m256i b) { return _mm256_sign_epi32(a, b); }
    static __m256i signBits(__m256i a) { return _mm256_srli_epi32(a, 31); }
    static __m256i larger(__m256i a, __m256i b) { return _mm256_max_epu32(a, b); }
    /// |a - b| of signed lanes, unsigned.
    static __m256i distance(__m256i a, __m256i b)
    {
        return _mm256_sub_epi32(_mm256_max_epi32(a, b), _mm256_min_epi32(a, b));
    }
    /// kernels::integerBin(): the exponent of a float. A bit below the highest is cleared, so that
    /// no conversion rounds up to the next power; halving keeps it below 2^31.
    static __m256i bin(__m256i value)
    {
        const __m256i half = _mm256_srli_epi32(value, 1);
        const __m256i top = _mm256_andnot_si256(_mm256_srli_epi32(half, 1), half);
        const __m256i exponent =
            _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(top)), 23);
        return _mm256_max_epi32(_mm256_sub_epi32(exponent, _mm256_set1_epi32(125)),
                                _mm256_min_epu32(value, _mm256_set1_epi32(1)));
    }
    static __m256i shiftedLeft(__m256i a, int bits) { return _mm256_slli_epi32(a, bits); }
    /// Eight stored lanes, from `part` on, as lanes of 32 bits.
    static __m256i widen(const void *cells, int part)
    {
        return loadBits(static_cast<const std::uint8_t *>(cells) + 4 * part);
    }
};

/// The same in lanes of 16 bits.
struct Lanes16
{
    using Raw = std::uint16_t;
    static constexpr int Parts = 16;

    static __m256i set(std::uint32_t value) { return _mm256_set1_epi16(static_cast<short>(value)); }
    static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi16(a, b); }
    static __m256i subtract(__m256i a, __m256i b) { return _mm256_sub_epi16(a, b); }
    static __m256i add(__m256i a, __m256i b) { return _mm256_add_epi16(a, b); }
    static __m256i signedBy(__m256i a, __m256i b) { return _mm256_sign_epi16(a, b); }
    static __m256i signBits(__m256i a) { return _mm256_srli_epi16(a, 15); }
    static __m256i larger(__m256i a, __m256i b) { return _mm256_max_epu16(a, b); }
    static __m256i distance(__m256i a, __m256i b)
    {
        return _mm256_sub_epi16(_mm256_max_epi16(a, b), _mm256_min_epi16(a, b));
    }
    static __m256i bin(__m256i value)
    {
        const __m256i zero = _mm256_setzero_si256();
        const __m256i low = exponents(_mm256_unpacklo_epi16(value, zero));
        const __m256i high = exponents(_mm256_unpackhi_epi16(value, zero));
        return _mm256_subs_epu16(_mm256_packus_epi32(low, high), _mm256_set1_epi16(126));
    }
    static __m256i shiftedLeft(__m256i a, int bits) { return _mm256_slli_epi16(a, bits); }
    static __m256i widen(const void *cells, int part)
    {
        return _mm256_cvtepu16_epi32(loadHalf(static_cast<const std::uint8_t *>(cells) + 2 * part));
    }

private:
    static __m256i exponents(__m256i value) // exact: at most 16 bits
    {
        return _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(value)), 23);
    }
};

struct Float32Lanes : Lanes32
{
    using Format = kernels::Float32;
    static constexpr std::uint32_t Magnitude = 0x7FFFFFFF, Infinity = 0x7F800000;

    static Group load(const std::uint8_t *data)
    {
        const auto *floats = reinterpret_cast<const float *>(data);
        return {_mm256_cvtps_pd(_mm_loadu_ps(floats)), _mm256_cvtps_pd(_mm_loadu_ps(floats + 4))};
    }
};

struct BFloat16Lanes : Lanes16
{
    using Format = kernels::BFloat16;
    static constexpr std::uint32_t Magnitude = 0x7FFF, Infinity = 0x7F80;

    static Group load(const std::uint8_t *data) // the upper halves of float32
    {
        const __m128i zero = _mm_setzero_si128();
        const __m128i codes = loadHalf(data);
        return {_mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpacklo_epi16(zero, codes))),
                _mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpackhi_epi16(zero, codes)))};
    }
};

struct Float16Lanes : Lanes16
{
    using Format = kernels::Float16;
    static constexpr std::uint32_t Magnitude = 0x7FFF, Infinity = 0x7C00;

    static Group load(const std::uint8_t *data)
    {
        const __m128i codes = loadHalf(data);
        return {_mm256_cvtps_pd(_mm_cvtph_ps(codes)),
                _mm256_cvtps_pd(_mm_cvtph_ps(_mm_unpackhi_epi64(codes, codes)))};
    }
};

} // namespace

} // namespace forkpoint::avx2
