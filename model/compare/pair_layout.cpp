// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/pair_layout.h"

#include "model/compare/owner_differences.h"
#include "model/compare/unlike_replicas.h"
#include "model/format.h"

#include <algorithm>
#include <map>
#include <set>
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

OwnerIndex holderOf(const TensorRef &tensor, const Extent &extent)
{
    return extent.owner != NoOwner ? extent.owner : tensor.owner;
}

/// Whose copies differ within one run: of such a part "equal" would be said of one copy alone.
class UnlikeCopies
{
public:
    UnlikeCopies(const TensorRef &tensor, const Catalog &catalog)
        : m_texts(unlikePartsOf(tensor, catalog))
    {
        std::set<OwnerIndex> holders;
        std::set<Place> places;
        for (const Extent &extent : tensor.extents) {
            holders.insert(holderOf(tensor, extent));
            places.insert(placeOf(extent));
        }
        // A copy of several parts at once tells of the first one's holder alone.
        const bool isPartByPart = std::all_of(
            tensor.replicas.begin(), tensor.replicas.end(), [&](const Replica &replica) {
                return replica.extents.size() == 1
                    && places.contains(placeOf(replica.extents.front()));
            });
        if (!isPartByPart)
            return;
        for (const OwnerIndex holder : holders) {
            if (areNamed(ownerText(catalog, holder, 0)))
                m_holders.insert(holder);
        }
    }

    /// All parts, where what is known does not tell which.
    bool has(OwnerIndex holder) const
    {
        return !m_texts.empty() && (m_holders.empty() || m_holders.contains(holder));
    }
    std::string text() const { return m_texts.empty() ? "" : std::string(m_texts.front()); }

private:
    bool areNamed(const std::string &holder) const
    {
        return std::any_of(m_texts.begin(), m_texts.end(),
                           [&](std::string_view text) { return namesHolder(text, holder); });
    }

    std::vector<std::string_view> m_texts;
    std::set<OwnerIndex> m_holders;
};

/// `notCounted` is told where a part that counts nothing is in doubt.
SideLayout sideLayout(const Catalog &catalog, const TensorRef &tensor,
                      const std::vector<Index> *counts, std::string &notCounted)
{
    SideLayout side;
    const UnlikeCopies unlike(tensor, catalog);
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
        const OwnerIndex holder = holderOf(tensor, extent);
        part.owner = ownerText(catalog, holder, more == copies.end() ? 0 : more->second);
        if (extent.file < catalog.files.size())
            part.file = catalog.files[extent.file];
        if (counts && ((*counts)[i] > 0 || !unlike.has(holder)))
            part.different = (*counts)[i];
        else if (counts && notCounted.empty())
            notCounted = unlike.text();
        side.parts.push_back(std::move(part));
    }
    return side;
}

} // namespace

PairLayout pairLayout(const TensorPairRef &pair, std::stop_token stop)
{
    PairLayout layout;
    const auto counted = differencesByExtent(pair, std::move(stop));
    if (!counted)
        layout.notCounted = counted.error().message();
    layout.a = sideLayout(pair.sourceA->catalog(), pair.tensorA(), counted ? &counted->a : nullptr,
                          layout.notCounted);
    layout.b = sideLayout(pair.sourceB->catalog(), pair.tensorB(), counted ? &counted->b : nullptr,
                          layout.notCounted);
    return layout;
}

} // namespace forkpoint
