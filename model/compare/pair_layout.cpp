// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/pair_layout.h"

#include "model/compare/owner_differences.h"
#include "model/compare/unlike_replicas.h"
#include "model/format.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace forkpoint {

namespace {

constexpr std::size_t MostParts = 4096;

Index volumeOf(const Extent &extent)
{
    if (extent.fills == Extent::Fills::FlatRange)
        return extent.flatCount;
    Index volume = 1;
    for (const Index size : extent.box.size)
        volume *= size; // validated: it fits
    return volume;
}

/// A part of a tensor: a box, or a stretch of the row-major order.
using Place = std::tuple<std::vector<Index>, std::vector<Index>, Index, Index>;

Place placeOf(const Extent &extent)
{
    return {extent.box.origin, extent.box.size, extent.flatBegin, extent.flatCount};
}

/// How often each part is held once more.
std::map<Place, std::uint64_t> copiesOf(const TensorRef &tensor)
{
    std::map<Place, std::uint64_t> copies;
    for (const Replica &replica : tensor.replicas) {
        for (const Extent &extent : replica.extents) {
            if (copies.size() < MostParts)
                ++copies[placeOf(extent)];
        }
    }
    return copies;
}

std::string ownerText(const Catalog &catalog, OwnerIndex owner, std::uint64_t copies)
{
    if (owner >= catalog.owners.size())
        return {};
    return catalog.owners[owner].toString()
        + (copies > 0 ? " and " + counted(copies, "copy", "copies") : std::string());
}

SideLayout sideLayout(const Catalog &catalog, const TensorRef &tensor,
                      const std::vector<Index> *counts)
{
    SideLayout side;
    const bool flat =
        std::any_of(tensor.extents.begin(), tensor.extents.end(),
                    [](const Extent &extent) { return extent.fills == Extent::Fills::FlatRange; });
    const auto copies = copiesOf(tensor);
    side.shape = flat ? Shape{{tensor.shape.count().value_or(0)}} : tensor.shape;
    for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
        const Extent &extent = tensor.extents[i];
        if (flat && extent.fills != Extent::Fills::FlatRange)
            continue; // boxes among flat ranges have no place in a flat picture
        if (side.parts.size() == MostParts) {
            side.cut = true;
            break;
        }
        LayoutPart part;
        part.box = flat ? Box{{extent.flatBegin}, {extent.flatCount}} : extent.box;
        part.elements = volumeOf(extent);
        const auto more = copies.find(placeOf(extent));
        part.owner = ownerText(catalog, extent.owner != NoOwner ? extent.owner : tensor.owner,
                               more == copies.end() ? 0 : more->second);
        if (extent.file < catalog.files.size())
            part.file = catalog.files[extent.file];
        if (counts)
            part.different = (*counts)[i];
        side.parts.push_back(std::move(part));
    }
    return side;
}

bool areZero(const std::vector<Index> &counts)
{
    return std::all_of(counts.begin(), counts.end(), [](Index count) { return count == 0; });
}

std::string unlikeReplicas(const TensorPairRef &pair)
{
    const std::string_view inA = unlikeReplicasOf(pair.tensorA(), pair.sourceA->catalog());
    return std::string(inA.empty() ? unlikeReplicasOf(pair.tensorB(), pair.sourceB->catalog())
                                   : inA);
}

} // namespace

PairLayout pairLayout(const TensorPairRef &pair, std::stop_token stop)
{
    PairLayout layout;
    const auto counted = differencesByExtent(pair, std::move(stop));
    if (!counted)
        layout.notCounted = counted.error().message();
    else if (areZero(counted->a) && areZero(counted->b))
        layout.notCounted = unlikeReplicas(pair); // "equal" is said of one copy alone
    const bool isCounted = layout.notCounted.empty();
    layout.a =
        sideLayout(pair.sourceA->catalog(), pair.tensorA(), isCounted ? &counted->a : nullptr);
    layout.b =
        sideLayout(pair.sourceB->catalog(), pair.tensorB(), isCounted ? &counted->b : nullptr);
    return layout;
}

} // namespace forkpoint
