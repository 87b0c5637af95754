// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace forkpoint {

/// The 624 words of an MT19937, as torch, numpy and Python's random hold them.
struct TwisterBlock
{
    static constexpr std::size_t Words = 624;
    std::array<std::uint32_t, Words> words{};

    bool operator==(const TwisterBlock &) const = default;
};

/// Knuth's initialisation from one word: torch.manual_seed, numpy.random.seed.
TwisterBlock seededBlock(std::uint32_t seed);

/// Initialisation from an array of words: random.seed(int) of Python, least significant first.
TwisterBlock seededByArray(std::span<const std::uint32_t> key);

/// The block that follows: every 624 draws.
void advance(TwisterBlock &block);

/// How many times `from` has to advance to become `to`; nothing if not within `limit`.
std::optional<std::uint64_t> blocksBetween(TwisterBlock from, const TwisterBlock &to,
                                           std::uint64_t limit);

} // namespace forkpoint
