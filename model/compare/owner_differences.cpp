// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/owner_differences.h"

#include "model/borrowed_source.h"
#include "model/coordinates.h"
#include "model/extent_index.h"
#include "model/format.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace forkpoint {

namespace {

constexpr std::size_t MostPlaces = 4096; ///< rows of a page that get theirs
constexpr std::uint64_t Piece = 1u << 20;

bool holds(const Extent &extent, Index element, const std::vector<Index> &at)
{
    if (extent.fills == Extent::Fills::FlatRange)
        return element >= extent.flatBegin && element - extent.flatBegin < extent.flatCount;
    if (extent.box.origin.size() != at.size())
        return false;
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (at[i] < extent.box.origin[i] || at[i] - extent.box.origin[i] >= extent.box.size[i])
            return false;
    }
    return true;
}

/// Counts elements in the extents that hold them.
class ExtentCounter
{
public:
    explicit ExtentCounter(const TensorRef &tensor)
        : m_index(tensor.extents, tensor.shape),
          m_counts(tensor.extents.size(), 0)
    {
    }

    bool isUsable() const { return m_index.isUsable(); }
    void count(Index element, const std::vector<Index> &at)
    {
        if (const auto extent = m_index.find(element, at))
            ++m_counts[*extent];
    }
    std::vector<Index> take() { return std::move(m_counts); }

private:
    ExtentIndex m_index;
    std::vector<Index> m_counts;
};

Error cannot(std::string text)
{
    return {ErrorCode::Unsupported, {}, {}, std::move(text)};
}

/// A stretch of the logical row-major order, both ends inclusive.
struct ElementStretch
{
    Index first = 0, last = 0;
    std::vector<Index> from, to; ///< their coordinates
};

/// The whole stretch lies in this one extent.
bool isFlatPart(const Extent &extent, const Shape &shape, const ElementStretch &stretch)
{
    if (!holds(extent, stretch.first, stretch.from) || !holds(extent, stretch.last, stretch.to))
        return false;
    if (extent.fills == Extent::Fills::FlatRange)
        return true;
    // Whole rows: everything between two elements of a box that is cut on its first dimension
    // alone, or on later ones where the earlier are one position long.
    bool whole = true;
    for (std::size_t i = shape.rank(); i-- > 0;) {
        if (!whole && extent.box.size[i] != 1)
            return false;
        whole = whole && extent.box.size[i] == shape.dims[i];
    }
    return true;
}

std::set<OwnerIndex> ownersOf(const TensorRef &tensor)
{
    std::set<OwnerIndex> owners;
    for (const Extent &extent : tensor.extents)
        owners.insert(extent.owner);
    for (const Replica &replica : tensor.replicas)
        owners.insert(replica.owner);
    if (owners.empty())
        owners.insert(tensor.owner);
    return owners;
}

/// Whose parts hold differing elements of the compared tensors of one side.
class SideOwners
{
public:
    SideOwners(const TensorSource &source, bool isA) : m_catalog(source.catalog()), m_isA(isA) {}

    void see(const TensorRow &row)
    {
        const auto index = m_isA ? row.a : row.b;
        if (!index || !row.a || !row.b)
            return;
        const auto owners = ownersOf(m_catalog.tensors[*index]);
        m_all.insert(owners.begin(), owners.end());
    }

    /// What is known without reading; false: the elements have to be looked at.
    bool takeFromStats(const TensorRow &row)
    {
        const TensorRef &tensor = m_catalog.tensors[m_isA ? *row.a : *row.b];
        const std::set<OwnerIndex> owners = ownersOf(tensor);
        // One rank wrote what others may hold, too, whose copies nobody stored.
        m_isOpen |= owners.size() == 1 && tensor.owner == NoOwner && tensor.replicas.empty();
        // What copies hold differs in all of them, as they are equal.
        if (owners.size() == 1 || !tensor.replicas.empty()) {
            m_differing.insert(owners.begin(), owners.end());
            return true;
        }
        if (tensor.extents.size() > MostToldExtents)
            return false;
        const Index first = row.stats->firstIndex, last = row.stats->lastIndex;
        const ElementStretch stretch{first, last, coordinatesOf(first, tensor.shape),
                                     coordinatesOf(last, tensor.shape)};
        for (const Extent &extent : tensor.extents) {
            if (isFlatPart(extent, tensor.shape, stretch)) {
                m_differing.insert(extent.owner);
                return true;
            }
        }
        return false;
    }

    void take(const TensorRow &row, const std::vector<Index> &counts)
    {
        const TensorRef &tensor = m_catalog.tensors[m_isA ? *row.a : *row.b];
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (counts[i] > 0)
                m_differing.insert(tensor.extents[i].owner);
        }
    }

    bool isConfined() const
    {
        return !m_isOpen && m_all.size() > 1 && m_differing.size() == 1
            && *m_differing.begin() != NoOwner;
    }
    std::string ownerText() const { return m_catalog.owners[*m_differing.begin()].toString(); }

    /// More than one owner differs already: reading on cannot change that.
    bool isSpread() const { return m_isOpen || m_all.size() < 2 || m_differing.size() > 1; }

private:
    const Catalog &m_catalog;
    bool m_isA;
    std::set<OwnerIndex> m_all, m_differing;
    bool m_isOpen = false; ///< something differs of which it is not known who holds it
};

Finding onlyOneDiffers(const std::string &owner, const std::string &side, std::uint64_t tensors)
{
    return {"one-rank-differs",
            Certainty::Is,
            Severity::Warning,
            "only " + owner + " differs: as " + side + " cut, every differing element of "
                + counted(tensors, "tensor", "tensors") + " lies in its parts",
            {owner}};
}

} // namespace

Result<OwnerDifferences> differencesByExtent(const TensorPairRef &pair, std::stop_token stop)
{
    const TensorRef &a = pair.tensorA(), &b = pair.tensorB();
    const std::uint64_t bits = a.dtype.positionBits();
    if (a.dtype != b.dtype || a.shape != b.shape)
        return cannot("the two sides have unlike shapes or types");
    if (bits % 8 != 0 || a.extents.size() > MostToldExtents || b.extents.size() > MostToldExtents)
        return cannot("its parts cannot be told apart");
    const std::uint64_t width = bits / 8, total = a.shape.count().value_or(0);
    ExtentCounter ofA(a), ofB(b);
    if (!ofA.isUsable() || !ofB.isUsable())
        return cannot("its parts cannot be told apart");
    OwnerDifferences result;
    std::vector<std::byte> left, right;
    const Index step = std::max<Index>(1, Piece / width);
    for (Index first = 0; first < total; first += step) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        const Index count = std::min(step, total - first);
        left.resize(std::size_t(count * width));
        right.resize(left.size());
        FP_CHECK(pair.sourceA->read(pair.a, first * width, left));
        FP_CHECK(pair.sourceB->read(pair.b, first * width, right));
        if (std::memcmp(left.data(), right.data(), left.size()) == 0)
            continue;
        std::vector<Index> at = coordinatesOf(first, a.shape);
        for (Index i = 0; i < count; ++i, advance(at, a.shape.dims)) {
            const std::size_t offset = std::size_t(i * width);
            if (std::memcmp(left.data() + offset, right.data() + offset, std::size_t(width)) == 0)
                continue;
            ++result.different;
            ofA.count(first + i, at);
            ofB.count(first + i, at);
        }
    }
    result.a = ofA.take();
    result.b = ofB.take();
    return result;
}

std::shared_ptr<const ElementPlaces> firstPlacesOf(const TensorRow &row, const Catalog &a,
                                                   const Catalog &b)
{
    if (!row.a || !row.b || !row.stats || row.stats->differentElements == 0)
        return nullptr;
    ElementPlaces places;
    places.a = placeOfElement(a, a.tensors[*row.a], row.stats->firstIndex);
    places.b = placeOfElement(b, b.tensors[*row.b], row.stats->firstIndex);
    if (!places.a && !places.b)
        return nullptr;
    return std::make_shared<const ElementPlaces>(std::move(places));
}

void addPlaces(ElementPage &page, const TensorPairRef &pair)
{
    const TensorRef &a = pair.tensorA(), &b = pair.tensorB();
    if (page.rows.size() > MostPlaces || a.extents.size() > MostToldExtents
        || b.extents.size() > MostToldExtents)
        return;
    for (ElementRow &row : page.rows) {
        ElementPlaces places{placeOfElement(pair.sourceA->catalog(), a, row.index),
                             placeOfElement(pair.sourceB->catalog(), b, row.index)};
        if (!places.owned())
            return;
        row.places = std::make_shared<const ElementPlaces>(std::move(places));
    }
}

std::vector<Finding> ownerFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                   const TensorSource &b, std::uint64_t budget,
                                   std::stop_token stop)
{
    SideOwners ofA(a, true), ofB(b, false);
    for (const TensorRow &row : comparison.tensors) {
        ofA.see(row);
        ofB.see(row);
    }
    std::uint64_t tensors = 0;
    for (const TensorRow &row : comparison.tensors) {
        if (row.status != ItemStatus::Different || isContext(row.stateClass))
            continue;
        if (!row.stats || row.stats->differentElements == 0 || row.dtypeA != row.dtypeB)
            return {}; // what differs was not counted
        ++tensors;
        const bool knownA = ofA.takeFromStats(row), knownB = ofB.takeFromStats(row);
        if (ofA.isSpread() && ofB.isSpread())
            return {};
        if (knownA && knownB)
            continue;
        if (row.bytes > budget)
            return {};
        budget -= row.bytes;
        const auto counted = differencesByExtent({borrowed(a), borrowed(b), *row.a, *row.b}, stop);
        if (!counted)
            return {};
        ofA.take(row, counted->a);
        ofB.take(row, counted->b);
    }
    if (tensors == 0)
        return {};
    if (ofA.isConfined() && ofB.isConfined() && ofA.ownerText() == ofB.ownerText())
        return {onlyOneDiffers(ofA.ownerText(), "A and B are", tensors)};
    std::vector<Finding> findings;
    if (ofA.isConfined())
        findings.push_back(onlyOneDiffers(ofA.ownerText(), "A is", tensors));
    if (ofB.isConfined())
        findings.push_back(onlyOneDiffers(ofB.ownerText(), "B is", tensors));
    return findings;
}

} // namespace forkpoint
