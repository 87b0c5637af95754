// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/bit_planes.h"

namespace forkpoint {

namespace {

/// Bit j of byte i becomes bit i of byte j: three swaps of ever larger blocks.
std::uint64_t transposed(std::uint64_t x)
{
    std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
    return x ^ t ^ (t << 28);
}

} // namespace

void joinBitPlanes(ByteView planes, std::size_t elementSize, MutableByteView out)
{
    const std::size_t row = out.size() / elementSize / 8; // bytes of a row
    for (std::size_t b = 0; b < elementSize; ++b) {
        for (std::size_t k = 0; k < row; ++k) {
            std::uint64_t bits = 0;
            for (std::size_t t = 0; t < 8; ++t)
                bits |= std::to_integer<std::uint64_t>(planes[(b * 8 + t) * row + k]) << (8 * t);
            bits = transposed(bits);
            for (std::size_t m = 0; m < 8; ++m)
                out[(k * 8 + m) * elementSize + b] = std::byte(bits >> (8 * m));
        }
    }
}

} // namespace forkpoint
