// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/layout_search.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::uint64_t MostBytes = 32u << 20; ///< of one tensor, held in memory
constexpr std::uint64_t Piece = 4u << 20;      ///< between two looks at whether to stop

} // namespace

bool LayoutSearch::spend(std::uint64_t work)
{
    if (work > m_work || m_stop.stop_requested())
        return false;
    m_work -= work;
    return true;
}

std::optional<std::vector<std::byte>> LayoutSearch::read(const TensorSource &source,
                                                         TensorIndex tensor)
{
    const std::uint64_t bytes = source.catalog().tensors[tensor].bytes;
    if (bytes > MostBytes || bytes > m_bytes)
        return std::nullopt;
    m_bytes -= bytes;
    std::vector<std::byte> data(std::size_t(bytes), std::byte(0));
    for (std::uint64_t first = 0; first < bytes; first += Piece) {
        const std::uint64_t size = std::min(Piece, bytes - first);
        const MutableByteView piece = MutableByteView(data).subspan(first, size);
        if (!spend(size) || !source.read(tensor, first, piece))
            return std::nullopt;
    }
    return data;
}

} // namespace forkpoint
