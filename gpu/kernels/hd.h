// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

// One definition for host and device. Everything in this folder is C++17, includes nothing but
// <cstddef>, <cstdint> and its neighbours, and must give the same bits wherever it is compiled.

#if defined(__CUDACC__)
#define FP_HD __host__ __device__ __forceinline__
#else
#define FP_HD inline __attribute__((always_inline))
#endif

// Tables inside functions: a device function cannot reach a static of the host.
#if defined(__CUDA_ARCH__)
#define FP_TABLE constexpr
#else
#define FP_TABLE static constexpr
#endif

#if defined(__FAST_MATH__)
#error "the statistics need IEEE arithmetic: do not compile gpu/kernels with -ffast-math"
#endif
#if !defined(__CUDA_ARCH__)
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "the statistics need float64 arithmetic without excess precision (__FLT_EVAL_METHOD__ 0)"
#endif
#endif

namespace forkpoint::kernels {

/// Multiplication and addition that no compiler may fuse: -ffp-contract=off on the host, the
/// rounding intrinsics on a device (beside -fmad=false).
FP_HD double multiply(double a, double b)
{
#if defined(__CUDA_ARCH__)
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

FP_HD double add(double a, double b)
{
#if defined(__CUDA_ARCH__)
    return __dadd_rn(a, b);
#else
    return a + b;
#endif
}

FP_HD double doubleFromBits(std::uint64_t bits)
{
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(static_cast<long long>(bits));
#else
    double value = 0.0;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

FP_HD std::uint64_t bitsFromDouble(double value)
{
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

/// |value| by its bits: (-0) - (+0) must not keep a sign.
FP_HD double magnitude(double value)
{
    return doubleFromBits(bitsFromDouble(value) & 0x7FFFFFFFFFFFFFFFU);
}

/// Position of the highest set bit; `value` is not zero.
FP_HD int highestBit(std::uint64_t value)
{
#if defined(__CUDA_ARCH__)
    return 63 - __clzll(static_cast<long long>(value));
#else
    return 63 - __builtin_clzll(value);
#endif
}

/// An unsigned integer of sizeof(Raw) bytes, little-endian, from any address.
template <class Raw>
FP_HD Raw loadRaw(const std::uint8_t *data)
{
#if !defined(__CUDA_ARCH__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    Raw value = 0;
    __builtin_memcpy(&value, data, sizeof(Raw));
    return value;
#else
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Raw); ++i)
        value |= static_cast<std::uint64_t>(data[i]) << (8 * i);
    return static_cast<Raw>(value);
#endif
}

/// The same from a multiple of sizeof(Raw) in the memory of a device, where other addresses fault
/// and one load is worth eight. On the host any address will do.
template <class Raw>
FP_HD Raw loadAligned(const std::uint8_t *data)
{
#if defined(__CUDA_ARCH__)
    return *reinterpret_cast<const Raw *>(data);
#else
    return loadRaw<Raw>(data);
#endif
}

} // namespace forkpoint::kernels
