// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/metadata_checksum.h"

#include <bit>

namespace forkpoint {

namespace {

struct Mix
{
    std::uint32_t a, b, c;

    void words()
    {
        constexpr int Turns[] = {4, 6, 8, 16, 19, 4};
        std::uint32_t *const parts[] = {&a, &b, &c};
        for (std::size_t i = 0; i < std::size(Turns); ++i) {
            std::uint32_t &x = *parts[i % 3], &y = *parts[(i + 1) % 3], &z = *parts[(i + 2) % 3];
            x -= z;
            x ^= std::rotl(z, Turns[i]);
            z += y;
        }
    }

    void finish()
    {
        constexpr int Turns[] = {14, 11, 25, 16, 4, 14, 24};
        std::uint32_t *const parts[] = {&c, &a, &b};
        for (std::size_t i = 0; i < std::size(Turns); ++i) {
            std::uint32_t &x = *parts[i % 3], &y = *parts[(i + 2) % 3];
            x ^= y;
            x -= std::rotl(y, Turns[i]);
        }
    }
};

std::uint32_t wordAt(ByteView bytes, std::size_t at)
{
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < sizeof word && at + i < bytes.size(); ++i)
        word |= std::uint32_t(bytes[at + i]) << (8 * i);
    return word;
}

} // namespace

std::uint32_t metadataChecksum(ByteView bytes)
{
    constexpr std::size_t Block = 12;
    const std::uint32_t start = 0xdeadbeef + std::uint32_t(bytes.size());
    Mix mix{start, start, start};
    const auto add = [&] {
        mix.a += wordAt(bytes, 0);
        mix.b += wordAt(bytes, 4);
        mix.c += wordAt(bytes, 8);
    };
    for (; bytes.size() > Block; bytes = bytes.subspan(Block)) {
        add();
        mix.words();
    }
    if (bytes.empty())
        return mix.c;
    add();
    mix.finish();
    return mix.c;
}

} // namespace forkpoint
