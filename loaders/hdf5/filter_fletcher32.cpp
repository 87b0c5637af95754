// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_codecs.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Fletcher's checksum over big-endian 16-bit words, as libhdf5 computes it.
std::uint32_t fletcher32(ByteView data)
{
    constexpr std::size_t WordsPerFold = 360; // sums stay below 2^32
    std::uint32_t low = 0, high = 0;
    const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
    std::size_t words = data.size() / 2, at = 0;
    while (words > 0) {
        const std::size_t now = std::min(words, WordsPerFold);
        words -= now;
        for (std::size_t i = 0; i < now; ++i, at += 2) {
            low += std::to_integer<std::uint32_t>(data[at]) << 8
                | std::to_integer<std::uint32_t>(data[at + 1]);
            high += low;
        }
        low = fold(low);
        high = fold(high);
    }
    if (data.size() % 2 != 0) {
        low += std::to_integer<std::uint32_t>(data.back()) << 8;
        high += low;
        low = fold(low);
        high = fold(high);
    }
    return fold(high) << 16 | fold(low);
}

} // namespace

FilterResult undoFletcher32(ByteView stored, FilterParameters, std::size_t cap)
{
    if (stored.size() < 4)
        return damaged("has no checksum");
    const ByteView data = stored.first(stored.size() - 4);
    if (data.size() > cap)
        return overCap(cap);
    const auto recorded = loadLittle<std::uint32_t>(stored.data() + data.size());
    const std::uint32_t sum = fletcher32(data);
    // Writers before 1.6.3 swapped the bytes of each half on little-endian machines.
    const std::uint32_t swapped = (sum & 0x00ff00ff) << 8 | (sum & 0xff00ff00) >> 8;
    if (recorded != sum && recorded != swapped)
        return Error{ErrorCode::Mismatch, {}, {}, "the checksum is not that of the data"};
    return std::vector<std::byte>(data.begin(), data.end());
}

} // namespace forkpoint
