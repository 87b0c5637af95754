// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_filters.h"

/// The first byte chooses the filter, the next 20 its parameters.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    constexpr std::size_t Parameters = 20, Head = 1 + Parameters;
    constexpr std::size_t Cap = 1 << 16;
    if (size < Head)
        return 0;
    const auto all = chunkFilters();
    const ChunkFilter &filter = all[data[0] % all.size()];
    if (filter.undo == nullptr)
        return 0;
    const std::vector<std::uint32_t> parameters(data + 1, data + Head);
    const ByteView stored(reinterpret_cast<const std::byte *>(data) + Head, size - Head);
    const auto decoded = filter.undo(stored, parameters, Cap);
    if (decoded.ok() && decoded->size() > Cap)
        __builtin_trap();
    return 0;
}
