// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/mersenne_twister.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t N = TwisterBlock::Words, M = 397;

std::uint32_t twisted(std::uint32_t high, std::uint32_t low, std::uint32_t other)
{
    const std::uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
    return other ^ (mixed >> 1) ^ ((low & 1u) != 0 ? 0x9908b0dfu : 0u);
}

} // namespace

TwisterBlock seededBlock(std::uint32_t seed)
{
    TwisterBlock block;
    block.words[0] = seed;
    for (std::uint32_t i = 1; i < N; ++i) {
        const std::uint32_t last = block.words[i - 1];
        block.words[i] = 1812433253u * (last ^ (last >> 30)) + i;
    }
    return block;
}

TwisterBlock seededByArray(std::span<const std::uint32_t> key)
{
    TwisterBlock block = seededBlock(19650218u);
    if (key.empty())
        return block;
    auto &mt = block.words;
    std::size_t i = 1, j = 0;
    const auto step = [&] {
        if (++i == N) {
            mt[0] = mt[N - 1];
            i = 1;
        }
    };
    for (std::size_t k = std::max(N, key.size()); k > 0; --k) {
        const std::uint32_t last = mt[i - 1];
        mt[i] = (mt[i] ^ ((last ^ (last >> 30)) * 1664525u)) + key[j] + std::uint32_t(j);
        step();
        j = j + 1 == key.size() ? 0 : j + 1;
    }
    for (std::size_t k = N - 1; k > 0; --k) {
        const std::uint32_t last = mt[i - 1];
        mt[i] = (mt[i] ^ ((last ^ (last >> 30)) * 1566083941u)) - std::uint32_t(i);
        step();
    }
    mt[0] = 0x80000000u;
    return block;
}

void advance(TwisterBlock &block)
{
    auto &mt = block.words;
    for (std::size_t i = 0; i < N - M; ++i)
        mt[i] = twisted(mt[i], mt[i + 1], mt[i + M]);
    for (std::size_t i = N - M; i < N - 1; ++i)
        mt[i] = twisted(mt[i], mt[i + 1], mt[i + M - N]);
    mt[N - 1] = twisted(mt[N - 1], mt[0], mt[M - 1]);
}

std::optional<std::uint64_t> blocksBetween(TwisterBlock from, const TwisterBlock &to,
                                           std::uint64_t limit)
{
    for (std::uint64_t blocks = 0;; ++blocks) {
        if (from == to)
            return blocks;
        if (blocks == limit)
            return std::nullopt;
        advance(from);
    }
}

} // namespace forkpoint
