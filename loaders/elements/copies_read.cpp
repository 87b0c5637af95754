// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/copies_read.h"

#include "loaders/elements/extent_reader.h"
#include "model/unlike_block.h"

#include <algorithm>
#include <map>

namespace forkpoint {

std::optional<Box> boxOf(const std::vector<Extent> &extents)
{
    std::optional<Box> whole;
    for (const Extent &extent : extents) {
        if (extent.fills != Extent::Fills::Box)
            return std::nullopt;
        if (!whole) {
            whole = extent.box;
            continue;
        }
        for (std::size_t i = 0; i < whole->origin.size(); ++i) {
            const Index from = std::min(whole->origin[i], extent.box.origin[i]);
            const Index to = std::max(whole->origin[i] + whole->size[i],
                                      extent.box.origin[i] + extent.box.size[i]);
            whole->origin[i] = from;
            whole->size[i] = to - from;
        }
    }
    return whole;
}

bool isInside(const Box &inner, const Box &outer)
{
    bool isInside = true;
    for (std::size_t i = 0; i < outer.origin.size() && isInside; ++i) {
        isInside = inner.origin[i] >= outer.origin[i]
            && inner.origin[i] + inner.size[i] <= outer.origin[i] + outer.size[i];
    }
    return isInside;
}

std::vector<TensorRef> furtherCopies(const TensorRef &tensor)
{
    using Place = std::pair<std::vector<Index>, std::vector<Index>>;
    std::map<Place, std::vector<const Replica *>> byPlace;
    std::size_t most = 0;
    for (const Replica &replica : tensor.replicas) {
        const auto box = boxOf(replica.extents);
        if (!box)
            return {};
        auto &copies = byPlace[{box->origin, box->size}];
        copies.push_back(&replica);
        most = std::max(most, copies.size());
    }
    TensorRef first = tensor;
    first.replicas.clear();
    std::vector<TensorRef> result(most, first);
    for (const auto &[place, copies] : byPlace) {
        const Box box{place.first, place.second};
        for (std::size_t i = 0; i < copies.size(); ++i) {
            auto &extents = result[i].extents;
            std::erase_if(extents, [&](const Extent &extent) {
                return extent.fills != Extent::Fills::FlatRange && isInside(extent.box, box);
            });
            extents.insert(extents.end(), copies[i]->extents.begin(), copies[i]->extents.end());
        }
    }
    return result;
}

Status compareCopies(const std::vector<TensorRef> &copies,
                     std::span<const std::shared_ptr<const ByteSource>> files,
                     std::uint64_t firstByte, ByteView bytes)
{
    for (const TensorRef &copy : copies) {
        const auto read = [&](std::size_t first, MutableByteView out) {
            return readExtents(copy, files, firstByte + first, out);
        };
        FP_TRY(const auto unlike, firstUnlikeBlock(bytes, read));
        if (unlike)
            return Error{ErrorCode::Mismatch,
                         {},
                         {},
                         "ranks that should hold the same do not: copies differ between byte "
                             + std::to_string(firstByte + unlike->first) + " and "
                             + std::to_string(firstByte + unlike->first + unlike->size)};
    }
    return {};
}

} // namespace forkpoint
