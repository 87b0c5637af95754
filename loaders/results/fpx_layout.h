// SPDX-License-Identifier: GPL-3.0-or-later
// What the writer and the reader of fingerprint files share; see resources/docs/fpx.md.
#pragma once

#include "model/bytes.h"
#include "model/digest.h"

#include <array>
#include <string_view>

namespace forkpoint {

/// As PNG's: whatever mistakes a file for text damages it visibly.
constexpr std::string_view FpxMagic = "\x89"
                                      "FPX\r\n\x1a\n";
constexpr std::uint32_t FpxStored = 0, FpxZstd = 1;
constexpr std::size_t FpxChecksumBytes = 32;
constexpr std::size_t FpxDigestBytes = 16;
/// Levels of a fingerprint tree that are ever kept: 0 names leaves, 3 stretches of 1 TiB.
constexpr std::uint32_t FpxHighestLevel = 3;

/// A digest as it is stored: 16 bytes, as its hexadecimal digits read.
inline Digest128 storedDigest(const std::byte *bytes)
{
    return {loadBig<std::uint64_t>(bytes), loadBig<std::uint64_t>(bytes + 8)};
}

/// What follows a value's type: the alternatives of Value::data.
enum class FpxData : std::uint8_t { Nothing, Bool, Signed, Unsigned, Real, Text };

/// The largest body that so many compressed bytes may decode to.
constexpr std::uint64_t fpxLargestBody(std::uint64_t stored)
{
    constexpr std::uint64_t Ratio = 256, Free = 1u << 20;
    return stored > (~std::uint64_t(0) - Free) / Ratio ? ~std::uint64_t(0) : stored * Ratio + Free;
}

/// What names of files may have in all, as often as tensors and values of so long a body repeat them
/// by number. A number has four bytes, a name of many parts below 64.
constexpr std::uint64_t fpxMostRepeatedNames(std::uint64_t body)
{
    constexpr std::uint64_t Ratio = 16, Free = 64u << 20, Most = std::uint64_t(1) << 30;
    return body > (Most - Free) / Ratio ? Most : body * Ratio + Free;
}

/// SHA-256 of the header's bytes before it and of the decoded body.
std::array<std::byte, FpxChecksumBytes> fpxChecksum(ByteView headerBefore, ByteView body);

} // namespace forkpoint
