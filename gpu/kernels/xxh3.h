// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/geometry.h"

namespace forkpoint::kernels {

// XXH3, 128 bits, seed 0, default secret; written from the public specification
// (doc/xxhash_spec.md of the xxHash project, "XXH3 Algorithm").

struct Hash128
{
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

constexpr std::uint64_t Prime32_1 = 0x9E3779B1U;
constexpr std::uint64_t Prime32_2 = 0x85EBCA77U;
constexpr std::uint64_t Prime32_3 = 0xC2B2AE3DU;
constexpr std::uint64_t Prime64_1 = 0x9E3779B185EBCA87U;
constexpr std::uint64_t Prime64_2 = 0xC2B2AE3D27D4EB4FU;
constexpr std::uint64_t Prime64_3 = 0x165667B19E3779F9U;
constexpr std::uint64_t Prime64_4 = 0x85EBCA77C2B2AE63U;
constexpr std::uint64_t Prime64_5 = 0x27D4EB2F165667C5U;
constexpr std::uint64_t PrimeMx1 = 0x165667919E3779F9U;
constexpr std::uint64_t PrimeMx2 = 0x9FB21C651E98DF25U;

constexpr std::size_t StripeBytes = 64;
constexpr std::size_t StripesPerBlock = 16;
constexpr std::size_t HashBlockBytes = StripeBytes * StripesPerBlock;
constexpr std::size_t ShortInput = 240; ///< longest input of the short paths

/// Eight bytes of the default secret, little-endian, as words at multiples of eight.
FP_HD std::uint64_t secretWord(std::size_t word)
{
    FP_TABLE std::uint64_t Words[24] = {
        0xBE4BA423396CFEB8U, 0x1CAD21F72C81017CU, 0xDB979083E96DD4DEU, 0x1F67B3B7A4A44072U,
        0x78E5C0CC4EE679CBU, 0x2172FFCC7DD05A82U, 0x8E2443F7744608B8U, 0x4C263A81E69035E0U,
        0xCB00C391BB52283CU, 0xA32E531B8B65D088U, 0x4EF90DA297486471U, 0xD8ACDEA946EF1938U,
        0x3F349CE33F76FAA8U, 0x1D4F0BC7C7BBDCF9U, 0x3159B4CD4BE0518AU, 0x647378D9C97E9FC8U,
        0xC3EBD33483ACC5EAU, 0xEB6313FAFFA081C5U, 0x49DAF0B751DD0D17U, 0x9E68D429265516D3U,
        0xFCA1477D58BE162BU, 0xCE31D07AD1B8F88FU, 0x280416958F3ACB45U, 0x7E404BBBCAFBD7AFU};
    return Words[word];
}

/// The same from any byte offset.
FP_HD std::uint64_t secretAt(std::size_t offset)
{
    const std::size_t shift = offset % 8 * 8;
    const std::uint64_t low = secretWord(offset / 8);
    return shift == 0 ? low : (low >> shift) | (secretWord(offset / 8 + 1) << (64 - shift));
}

FP_HD Hash128 multiplyWide(std::uint64_t a, std::uint64_t b)
{
#if defined(__CUDA_ARCH__)
    return {a * b, __umul64hi(a, b)};
#else
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
#endif
}

FP_HD std::uint64_t multiplyFold(std::uint64_t a, std::uint64_t b)
{
    const Hash128 product = multiplyWide(a, b);
    return product.low ^ product.high;
}

FP_HD std::uint64_t avalanche(std::uint64_t hash)
{
    hash ^= hash >> 37;
    hash *= PrimeMx1;
    return hash ^ (hash >> 32);
}

FP_HD std::uint64_t avalancheXxh64(std::uint64_t hash)
{
    hash ^= hash >> 33;
    hash *= Prime64_2;
    hash ^= hash >> 29;
    hash *= Prime64_3;
    return hash ^ (hash >> 32);
}

FP_HD std::uint64_t load32(const std::uint8_t *data)
{
    return loadRaw<std::uint32_t>(data);
}

FP_HD std::uint64_t load64(const std::uint8_t *data)
{
    return loadRaw<std::uint64_t>(data);
}

FP_HD std::uint64_t swapBytes32(std::uint64_t value)
{
    return ((value & 0xFFU) << 24) | ((value & 0xFF00U) << 8) | ((value >> 8) & 0xFF00U)
        | ((value >> 24) & 0xFFU);
}

FP_HD std::uint64_t swapBytes64(std::uint64_t value)
{
    return (swapBytes32(value & 0xFFFFFFFFU) << 32) | swapBytes32(value >> 32);
}

FP_HD Hash128 hashEmpty()
{
    return {avalancheXxh64(secretAt(64) ^ secretAt(72)),
            avalancheXxh64(secretAt(80) ^ secretAt(88))};
}

FP_HD Hash128 hash1To3(const std::uint8_t *data, std::size_t size)
{
    const std::uint64_t first = data[0];
    const std::uint64_t middle = data[size >> 1];
    const std::uint64_t last = data[size - 1];
    const std::uint64_t low = (first << 16) | (middle << 24) | last | (size << 8);
    const std::uint64_t swapped = swapBytes32(low);
    const std::uint64_t high = ((swapped << 13) | (swapped >> 19)) & 0xFFFFFFFFU;
    const std::uint64_t keyLow = (secretAt(0) ^ (secretAt(0) >> 32)) & 0xFFFFFFFFU;
    const std::uint64_t keyHigh = (secretAt(8) ^ (secretAt(8) >> 32)) & 0xFFFFFFFFU;
    return {avalancheXxh64(low ^ keyLow), avalancheXxh64(high ^ keyHigh)};
}

FP_HD Hash128 hash4To8(const std::uint8_t *data, std::size_t size)
{
    const std::uint64_t input = load32(data) | (load32(data + size - 4) << 32);
    const std::uint64_t key = secretAt(16) ^ secretAt(24);
    Hash128 hash = multiplyWide(input ^ key, Prime64_1 + (size << 2));
    hash.high += hash.low << 1;
    hash.low ^= hash.high >> 3;
    hash.low ^= hash.low >> 35;
    hash.low *= PrimeMx2;
    hash.low ^= hash.low >> 28;
    hash.high = avalanche(hash.high);
    return hash;
}

FP_HD Hash128 hash9To16(const std::uint8_t *data, std::size_t size)
{
    const std::uint64_t keyLow = secretAt(32) ^ secretAt(40);
    const std::uint64_t keyHigh = secretAt(48) ^ secretAt(56);
    const std::uint64_t first = load64(data);
    std::uint64_t last = load64(data + size - 8);
    Hash128 mixed = multiplyWide(first ^ last ^ keyLow, Prime64_1);
    mixed.low += static_cast<std::uint64_t>(size - 1) << 54;
    last ^= keyHigh;
    mixed.high += last + (last & 0xFFFFFFFFU) * (Prime32_2 - 1);
    mixed.low ^= swapBytes64(mixed.high);
    Hash128 hash = multiplyWide(mixed.low, Prime64_2);
    hash.high += mixed.high * Prime64_2;
    return {avalanche(hash.low), avalanche(hash.high)};
}

FP_HD std::uint64_t mix16(const std::uint8_t *data, std::size_t secret)
{
    return multiplyFold(load64(data) ^ secretAt(secret), load64(data + 8) ^ secretAt(secret + 8));
}

FP_HD Hash128 mix32(Hash128 sum, const std::uint8_t *a, const std::uint8_t *b, std::size_t secret)
{
    sum.low += mix16(a, secret);
    sum.low ^= load64(b) + load64(b + 8);
    sum.high += mix16(b, secret + 16);
    sum.high ^= load64(a) + load64(a + 8);
    return sum;
}

FP_HD Hash128 finishMedium(Hash128 sum, std::size_t size)
{
    const std::uint64_t low = sum.low + sum.high;
    const std::uint64_t high = sum.low * Prime64_1 + sum.high * Prime64_4 + size * Prime64_2;
    return {avalanche(low), std::uint64_t(0) - avalanche(high)};
}

FP_HD Hash128 hash17To128(const std::uint8_t *data, std::size_t size)
{
    Hash128 sum{size * Prime64_1, 0};
    for (std::size_t i = (size - 1) / 32 + 1; i-- > 0;)
        sum = mix32(sum, data + 16 * i, data + size - 16 * (i + 1), 32 * i);
    return finishMedium(sum, size);
}

FP_HD Hash128 hash129To240(const std::uint8_t *data, std::size_t size)
{
    Hash128 sum{size * Prime64_1, 0};
    for (std::size_t i = 0; i < 4; ++i)
        sum = mix32(sum, data + 32 * i, data + 32 * i + 16, 32 * i);
    sum = {avalanche(sum.low), avalanche(sum.high)};
    for (std::size_t i = 4; i < size / 32; ++i)
        sum = mix32(sum, data + 32 * i, data + 32 * i + 16, 3 + 32 * (i - 4));
    sum = mix32(sum, data + size - 16, data + size - 32, 103);
    return finishMedium(sum, size);
}

FP_HD Hash128 hashShort(const std::uint8_t *data, std::size_t size)
{
    if (size > 128)
        return hash129To240(data, size);
    if (size > 16)
        return hash17To128(data, size);
    if (size > 8)
        return hash9To16(data, size);
    if (size > 3)
        return hash4To8(data, size);
    return size > 0 ? hash1To3(data, size) : hashEmpty();
}

FP_HD std::uint64_t initialAccumulator(int lane)
{
    FP_TABLE std::uint64_t Values[HashLanes] = {Prime32_3, Prime64_1, Prime64_2, Prime64_3,
                                                Prime64_4, Prime32_2, Prime64_5, Prime32_1};
    return Values[lane];
}

/// One lane of one stripe: a lane adds its neighbour's data and the product of its own halves.
FP_HD std::uint64_t accumulate(std::uint64_t sum, const std::uint8_t *stripe, int lane,
                               std::uint64_t key)
{
    const std::uint64_t mixed = loadAligned<std::uint64_t>(stripe + 8 * lane) ^ key;
    return sum + loadAligned<std::uint64_t>(stripe + 8 * (lane ^ 1))
        + (mixed & 0xFFFFFFFFU) * (mixed >> 32);
}

FP_HD std::uint64_t scramble(std::uint64_t sum, std::uint64_t key)
{
    return (sum ^ (sum >> 47) ^ key) * Prime32_1;
}

template <class Sums>
FP_HD std::uint64_t mergeAccumulators(const Sums &sums, std::size_t secret, std::uint64_t start)
{
    std::uint64_t result = start;
    for (std::size_t i = 0; i < 4; ++i) {
        result += multiplyFold(sums[2 * i] ^ secretAt(secret + 16 * i),
                               sums[2 * i + 1] ^ secretAt(secret + 16 * i + 8));
    }
    return avalanche(result);
}

/// Adds stripes of one block. Until the block is scrambled they only add up, modulo 2^64, so that
/// each group of a team may take its own.
template <class Team>
FP_HD void addStripes(Team &team, typename Team::Accumulators &sums, const std::uint8_t *start,
                      std::size_t stripes)
{
    typename Team::Parts parts;
    for (std::size_t first = 0; first < stripes; first += Team::Groups) {
        team.each([&](int lane, int group) {
            const std::size_t stripe = first + static_cast<std::size_t>(group);
            if (stripe < stripes)
                parts.at(lane, group) =
                    accumulate(parts.at(lane, group), start + stripe * StripeBytes, lane,
                               secretWord(stripe + static_cast<std::size_t>(lane)));
        });
    }
    team.addParts(sums, parts);
}

/// Inputs of more than ShortInput bytes on a team of HashLanes lanes (see team.h). On a device
/// `data` begins at a multiple of eight, and so does its end.
template <class Team>
FP_HD Hash128 hashLong(Team &team, const std::uint8_t *data, std::size_t size)
{
    typename Team::Accumulators sums;
    team.each([&](int lane, int) { sums[lane] = initialAccumulator(lane); });
    const std::size_t blocks = (size - 1) / HashBlockBytes;
    for (std::size_t block = 0; block < blocks; ++block) {
        addStripes(team, sums, data + block * HashBlockBytes, StripesPerBlock);
        team.each([&](int lane, int) {
            sums[lane] = scramble(sums[lane], secretWord(16 + static_cast<std::size_t>(lane)));
        });
    }
    const std::size_t stripes = (size - 1 - blocks * HashBlockBytes) / StripeBytes;
    addStripes(team, sums, data + blocks * HashBlockBytes, stripes);
    team.each([&](int lane, int) {
        sums[lane] = accumulate(sums[lane], data + size - StripeBytes, lane,
                                secretAt(121 + 8 * static_cast<std::size_t>(lane)));
    });
    const auto all = team.gather(sums);
    return {mergeAccumulators(all, 11, size * Prime64_1),
            mergeAccumulators(all, 117, ~(size * Prime64_2))};
}

/// XXH3-128 of `size` bytes at `data` (may be null when size is 0).
template <class Team>
FP_HD Hash128 xxh3(Team &team, const std::uint8_t *data, std::size_t size)
{
    return size <= ShortInput ? hashShort(data, size) : hashLong(team, data, size);
}

} // namespace forkpoint::kernels
