// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/crc32c.h"

#include <array>
#include <bit>

namespace forkpoint {

namespace {

constexpr std::array<std::uint32_t, 256> makeTable()
{
    constexpr std::uint32_t Reflected = 0x82F63B78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest >> 1) ^ ((rest & 1) != 0 ? Reflected : 0);
        table[byte] = rest;
    }
    return table;
}

constexpr auto Table = makeTable();

} // namespace

std::uint32_t crc32c(ByteView bytes)
{
    std::uint32_t crc = ~std::uint32_t(0);
    for (const std::byte byte : bytes)
        crc = Table[(crc ^ std::uint32_t(byte)) & 0xff] ^ (crc >> 8);
    return ~crc;
}

std::uint32_t maskedCrc32c(ByteView bytes)
{
    constexpr std::uint32_t Shift = 0xa282ead8;
    return std::rotr(crc32c(bytes), 15) + Shift;
}

} // namespace forkpoint
