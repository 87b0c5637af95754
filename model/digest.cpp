// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/digest.h"

namespace forkpoint {

namespace {

int hexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

} // namespace

std::array<std::byte, 16> Digest128::canonical() const
{
    std::array<std::byte, 16> bytes;
    for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t shift = 56 - 8 * i;
        bytes[i] = static_cast<std::byte>((high >> shift) & 0xFF);
        bytes[8 + i] = static_cast<std::byte>((low >> shift) & 0xFF);
    }
    return bytes;
}

std::string Digest128::toHex() const
{
    constexpr std::string_view Digits = "0123456789abcdef";
    std::string text;
    text.reserve(32);
    for (const std::byte byte : canonical()) {
        text += Digits[std::to_integer<std::size_t>(byte) >> 4];
        text += Digits[std::to_integer<std::size_t>(byte) & 15];
    }
    return text;
}

std::optional<Digest128> Digest128::fromHex(std::string_view hex)
{
    if (hex.size() != 32)
        return std::nullopt;
    Digest128 digest;
    for (std::size_t i = 0; i < 32; ++i) {
        const int digit = hexDigit(hex[i]);
        if (digit < 0)
            return std::nullopt;
        std::uint64_t &half = i < 16 ? digest.high : digest.low;
        half = half << 4 | static_cast<std::uint64_t>(digit);
    }
    return digest;
}

} // namespace forkpoint
