// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/extent_index.h"

#include "model/coordinates.h"

#include <algorithm>
#include <numeric>

namespace forkpoint {

namespace {

constexpr std::uint64_t MostCells = 1u << 20;  ///< of a grid
constexpr std::uint64_t MostVisits = 1u << 22; ///< of cells, by all extents together

void keepDistinct(std::vector<Index> &cuts)
{
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

/// The stretch that a position lies in; `cuts` begin at or before it.
std::size_t stretchOf(const std::vector<Index> &cuts, Index position)
{
    return std::size_t(std::upper_bound(cuts.begin(), cuts.end(), position) - cuts.begin()) - 1;
}

bool isBoxOf(const Extent &extent, const Shape &shape)
{
    if (extent.fills == Extent::Fills::FlatRange || extent.box.origin.size() != shape.rank()
        || extent.box.size.size() != shape.rank())
        return false;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        const Index origin = extent.box.origin[i], size = extent.box.size[i];
        if (size == 0 || origin >= shape.dims[i] || size > shape.dims[i] - origin)
            return false;
    }
    return true;
}

} // namespace

ExtentIndex::ExtentIndex(const std::vector<Extent> &extents, const Shape &shape)
{
    addRanges(extents);
    addBoxes(extents, shape);
}

void ExtentIndex::addBoxes(const std::vector<Extent> &extents, const Shape &shape)
{
    m_cuts.assign(shape.rank(), {0});
    bool any = false;
    for (const Extent &extent : extents) {
        if (!isBoxOf(extent, shape))
            continue;
        any = true;
        for (std::size_t i = 0; i < shape.rank(); ++i) {
            m_cuts[i].push_back(extent.box.origin[i]);
            m_cuts[i].push_back(extent.box.origin[i] + extent.box.size[i]);
        }
    }
    std::uint64_t cells = any ? 1 : 0;
    std::vector<Index> grid;
    for (std::vector<Index> &cuts : m_cuts) {
        keepDistinct(cuts);
        grid.push_back(cuts.size());
        cells = cells > MostCells ? cells : cells * cuts.size();
    }
    m_usable = cells <= MostCells;
    if (!m_usable || !any)
        return;
    m_cells.assign(std::size_t(cells), None);
    std::uint64_t visits = 0;
    for (std::size_t e = 0; e < extents.size(); ++e) {
        if (!isBoxOf(extents[e], shape))
            continue;
        std::vector<Index> first, size, at(shape.rank(), 0);
        std::uint64_t held = 1;
        for (std::size_t i = 0; i < shape.rank(); ++i) {
            const Index origin = extents[e].box.origin[i];
            first.push_back(stretchOf(m_cuts[i], origin));
            size.push_back(stretchOf(m_cuts[i], origin + extents[e].box.size[i]) - first[i]);
            held *= size[i];
        }
        visits += held;
        if (visits > MostVisits) {
            m_usable = false;
            return;
        }
        do {
            Index cell = 0;
            for (std::size_t i = 0; i < at.size(); ++i)
                cell = cell * grid[i] + first[i] + at[i];
            std::uint32_t &owner = m_cells[std::size_t(cell)];
            if (owner == None)
                owner = std::uint32_t(e);
        } while (advance(at, size));
    }
}

void ExtentIndex::addRanges(const std::vector<Extent> &extents)
{
    std::vector<Index> begins;
    for (const Extent &extent : extents) {
        if (extent.fills == Extent::Fills::FlatRange && extent.flatCount > 0
            && extent.flatCount <= ~Index(0) - extent.flatBegin) {
            begins.push_back(extent.flatBegin);
            begins.push_back(extent.flatBegin + extent.flatCount);
        }
    }
    if (begins.empty())
        return;
    begins.push_back(0);
    keepDistinct(begins);
    m_stretches.assign(begins.size(), None);
    // Of stretches that have an extent, the next one that may have none: each is passed over once.
    std::vector<std::size_t> next(begins.size() + 1);
    std::iota(next.begin(), next.end(), std::size_t(0));
    const auto freeFrom = [&](std::size_t at) {
        while (next[at] != at)
            at = next[at] = next[next[at]];
        return at;
    };
    for (std::size_t e = 0; e < extents.size(); ++e) {
        const Extent &extent = extents[e];
        if (extent.fills != Extent::Fills::FlatRange || extent.flatCount == 0
            || extent.flatCount > ~Index(0) - extent.flatBegin)
            continue;
        const std::size_t end = stretchOf(begins, extent.flatBegin + extent.flatCount);
        for (std::size_t at = freeFrom(stretchOf(begins, extent.flatBegin)); at < end;
             at = freeFrom(at)) {
            m_stretches[at] = std::uint32_t(e);
            next[at] = at + 1;
        }
    }
    m_begins = std::move(begins);
}

std::optional<std::size_t> ExtentIndex::find(Index element, const std::vector<Index> &at) const
{
    std::uint32_t found = None;
    if (!m_begins.empty())
        found = m_stretches[stretchOf(m_begins, element)];
    if (!m_cells.empty()) {
        Index cell = 0;
        for (std::size_t i = 0; i < m_cuts.size(); ++i)
            cell = cell * m_cuts[i].size() + stretchOf(m_cuts[i], at[i]);
        found = std::min(found, m_cells[std::size_t(cell)]);
    }
    return found == None ? std::nullopt : std::optional<std::size_t>(found);
}

} // namespace forkpoint
