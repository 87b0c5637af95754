// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_codecs.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Byte planes of elements of a width that the compiler knows.
template <std::size_t Width>
void joinPlanes(const std::byte *planes, std::size_t count, std::byte *out)
{
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t b = 0; b < Width; ++b)
            out[i * Width + b] = planes[b * count + i];
    }
}

void joinPlanes(const std::byte *planes, std::size_t count, std::size_t width, std::byte *out)
{
    for (std::size_t b = 0; b < width; ++b) {
        for (std::size_t i = 0; i < count; ++i)
            out[i * width + b] = planes[b * count + i];
    }
}

} // namespace

FilterResult undoShuffle(ByteView stored, FilterParameters parameters, std::size_t cap)
{
    if (stored.size() > cap)
        return overCap(cap);
    const std::size_t width = parameters.empty() ? 0 : parameters[0];
    std::vector<std::byte> out(stored.begin(), stored.end());
    if (width <= 1 || width > stored.size())
        return out;
    const std::size_t count = stored.size() / width; // what is left over was copied
    switch (width) {
    case 2: joinPlanes<2>(stored.data(), count, out.data()); break;
    case 4: joinPlanes<4>(stored.data(), count, out.data()); break;
    case 8: joinPlanes<8>(stored.data(), count, out.data()); break;
    default: joinPlanes(stored.data(), count, width, out.data());
    }
    return out;
}

} // namespace forkpoint
