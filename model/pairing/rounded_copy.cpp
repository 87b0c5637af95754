// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/rounded_copy.h"

#include "model/element.h"

#include <algorithm>
#include <vector>

namespace forkpoint {

namespace {

constexpr Index Piece = 1u << 18;

bool readPiece(const SourcedTensor &tensor, Index first, Index count, std::vector<std::byte> &into)
{
    const std::uint64_t bytes = tensor.ref().dtype.bits / 8;
    into.resize(std::size_t(count * bytes));
    return tensor.source->read(tensor.index, first * bytes, into).ok();
}

} // namespace

std::optional<bool> isRoundedCopy(const SourcedTensor &wide, const SourcedTensor &narrow,
                                  ElementRange range, const std::stop_token &stop)
{
    const DType &wideType = wide.ref().dtype, &narrowType = narrow.ref().dtype;
    std::vector<std::byte> wideData, narrowData;
    for (Index done = 0; done < range.count; done += Piece) {
        const Index first = range.first + done, count = std::min(Piece, range.count - done);
        if (stop.stop_requested() || !readPiece(wide, first, count, wideData)
            || !readPiece(narrow, first, count, narrowData))
            return std::nullopt;
        const bool same = wideType == narrowType
            ? wideData == narrowData
            : roundsTo(wideType, narrowType, wideData, narrowData);
        if (!same)
            return false;
    }
    return true;
}

} // namespace forkpoint
