// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/diff_stats.h"
#include "model/compare/element_plane.h"
#include "model/compare/element_reader.h"
#include "model/progress.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// What a map of two tensors shows.
enum class MapQuantity { A, B, Difference, Ulp };

struct MapQuery
{
    MapQuantity quantity = MapQuantity::Difference;
    ElementPlane plane;
    PlaneWindow window;                    ///< the part of the plane that is drawn
    std::size_t rows = 128, columns = 128; ///< cells at most; each at most MaxMapSide

    bool operator==(const MapQuery &) const = default;
};

constexpr std::size_t MaxMapSide = 1024;

/// The elements that fall into one cell, summed up by the one of largest magnitude (the lowest
/// index among equals): its value with its sign, for the difference b - a.
struct MapCell
{
    double value = 0.0;    ///< of `index`; meaningless without one
    Index index = NoIndex; ///< nothing where no element is finite
    Index elements = 0, differing = 0, notFinite = 0;
};

/// Two tensors as a grid of cells. A function of the query and the bytes alone.
struct ElementMap
{
    MapQuery query;
    std::size_t rows = 0, columns = 0; ///< cells
    std::vector<MapCell> cells;        ///< row by row
    bool complete = false;             ///< every element of the window was looked at
    double largest = 0.0;              ///< magnitude over all cells

    const MapCell &at(std::size_t row, std::size_t column) const
    {
        return cells[row * columns + column];
    }
    /// The part of the plane that a cell stands for.
    PlaneWindow windowOf(std::size_t row, std::size_t column) const;
};

/// Fills a map piece by piece, in bounded memory. Reads each element of the window once; for the
/// difference and ULP, stretches of equal bytes are not decoded.
class MapBuilder
{
public:
    MapBuilder(TensorPairRef pair, const MapQuery &query);

    /// Looks at about 4 MiB. False when nothing is left.
    Result<bool> advance(std::stop_token stop);
    Progress progress() const;
    const ElementMap &map() const { return m_map; }
    const TensorPairRef &pair() const { return m_pair; }

private:
    Status takeRun(Index outer, Index innerFirst, Index innerCount);
    void takeElement(MapCell &cell, ByteView a, ByteView b, Index local, Index index);

    TensorPairRef m_pair;
    ElementMap m_map;
    bool m_rowsOutside = true;
    Index m_outer = 0, m_inner = 0; ///< where to go on, within the window
    std::uint64_t m_looked = 0;
};

} // namespace forkpoint
