// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/element_map.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace forkpoint {

namespace {

constexpr std::uint64_t BytesAtOnce = 4 << 20;
constexpr std::uint64_t BytesOfARead = 1 << 20;

/// Which of `cells` a place of a window of `extent` belongs to; the cells are as equal as can be.
std::size_t cellOf(Index place, Index extent, std::size_t cells)
{
    if (extent <= cells)
        return std::size_t(place);
    // place * cells may need more than 64 bits.
    return std::size_t(static_cast<unsigned __int128>(place) * cells / extent);
}

/// The first place of a cell: the smallest that cellOf() gives it.
Index firstOf(std::size_t cell, Index extent, std::size_t cells)
{
    if (extent <= cells)
        return cell;
    const auto product = static_cast<unsigned __int128>(cell) * extent;
    return Index((product + cells - 1) / cells);
}

/// A number of one part; nothing for opaque types and for what is not finite.
std::optional<double> finite(const Scalar &scalar)
{
    if (const auto *d = std::get_if<double>(&scalar))
        return std::isfinite(*d) ? std::optional<double>(*d) : std::nullopt;
    if (const auto *i = std::get_if<std::int64_t>(&scalar))
        return double(*i);
    if (const auto *u = std::get_if<std::uint64_t>(&scalar))
        return double(*u);
    if (const auto *b = std::get_if<bool>(&scalar))
        return *b ? 1.0 : 0.0;
    return std::nullopt;
}

/// Of a complex element the part of larger magnitude stands for it.
std::optional<double> finite(const ElementValue &value)
{
    const std::optional<double> real = finite(value.real);
    if (!real || std::holds_alternative<std::monostate>(value.imaginary))
        return real;
    const std::optional<double> imaginary = finite(value.imaginary);
    if (!imaginary)
        return std::nullopt;
    return std::fabs(*imaginary) > std::fabs(*real) ? imaginary : real;
}

std::optional<double> valueOf(const ElementRow &row, MapQuantity quantity)
{
    switch (quantity) {
    case MapQuantity::A: return finite(row.a);
    case MapQuantity::B: return finite(row.b);
    case MapQuantity::Difference:
        if (!finite(row.a) || !finite(row.b))
            return std::nullopt;
        return finite(row.difference);
    case MapQuantity::Ulp: break;
    }
    return row.ulp ? std::optional<double>(double(*row.ulp)) : std::nullopt;
}

} // namespace

PlaneWindow ElementMap::windowOf(std::size_t row, std::size_t column) const
{
    const PlaneWindow &whole = query.window;
    const Index top = firstOf(row, whole.rows, rows),
                left = firstOf(column, whole.columns, columns);
    return {whole.row + top, whole.column + left, firstOf(row + 1, whole.rows, rows) - top,
            firstOf(column + 1, whole.columns, columns) - left};
}

MapBuilder::MapBuilder(TensorPairRef pair, const MapQuery &query) : m_pair(std::move(pair))
{
    m_map.query = query;
    const ElementPlane &plane = query.plane;
    PlaneWindow &window = m_map.query.window;
    window.row = std::min(window.row, plane.rows);
    window.column = std::min(window.column, plane.columns);
    window.rows = std::min(window.rows, plane.rows - window.row);
    window.columns = std::min(window.columns, plane.columns - window.column);
    const auto side = [](Index extent, std::size_t wanted) {
        return std::size_t(std::min<Index>(extent, std::clamp<std::size_t>(wanted, 1, MaxMapSide)));
    };
    m_map.rows = side(window.rows, query.rows);
    m_map.columns = side(window.columns, query.columns);
    m_map.cells.resize(m_map.rows * m_map.columns);
    m_map.complete = m_map.cells.empty();
    m_rowsOutside = plane.rowStride != plane.columnStride ? plane.rowStride > plane.columnStride
                                                          : plane.rows > 1;
}

Progress MapBuilder::progress() const
{
    const PlaneWindow &window = m_map.query.window;
    return {"mapping", m_pair.tensorA().name, 0, 0, m_looked, window.rows * window.columns};
}

Result<bool> MapBuilder::advance(std::stop_token stop)
{
    const PlaneWindow &window = m_map.query.window;
    const ElementPlane &plane = m_map.query.plane;
    const Index outerCount = m_rowsOutside ? window.rows : window.columns;
    const Index innerCount = m_rowsOutside ? window.columns : window.rows;
    const Index stride = m_rowsOutside ? plane.columnStride : plane.rowStride;
    // With a stride, the elements between are read too.
    const std::uint64_t bytes =
        std::max<std::uint64_t>(std::uint64_t(m_pair.tensorA().dtype.bits) * stride / 8, 1);
    const Index piece = std::clamp<Index>(BytesOfARead / bytes, 1, innerCount);
    for (std::uint64_t budget = 0; budget < BytesAtOnce && !m_map.complete;) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        const Index count = std::min(piece, innerCount - m_inner);
        FP_CHECK(takeRun(m_outer, m_inner, count));
        budget += count * bytes;
        m_looked += count;
        m_inner += count;
        if (m_inner == innerCount) {
            m_inner = 0;
            m_map.complete = ++m_outer == outerCount;
        }
    }
    return !m_map.complete;
}

/// A run along the axis of the smaller stride, read in one go.
Status MapBuilder::takeRun(Index outer, Index innerFirst, Index innerCount)
{
    const ElementPlane &plane = m_map.query.plane;
    const PlaneWindow &window = m_map.query.window;
    const Index row = window.row + (m_rowsOutside ? outer : innerFirst);
    const Index column = window.column + (m_rowsOutside ? innerFirst : outer);
    const Index stride = m_rowsOutside ? plane.columnStride : plane.rowStride;
    const std::optional<Index> first = plane.indexAt(row, column);
    if (!first)
        return {}; // the rest of a folded last row
    const Index count = std::min(innerCount, (plane.elements - 1 - *first) / stride + 1);

    const std::uint64_t bits = m_pair.tensorA().dtype.bits;
    const Index readFirst = bits % 8 == 0 ? *first : *first - *first % 8;
    const std::uint64_t begin = readFirst * bits / 8;
    const Index end = *first + (count - 1) * stride + 1;
    const auto size = std::size_t(std::min((end * bits + 7) / 8, m_pair.tensorA().bytes) - begin);
    std::vector<std::byte> a(size), b(size);
    FP_CHECK(m_pair.sourceA->read(m_pair.a, begin, a));
    FP_CHECK(m_pair.sourceB->read(m_pair.b, begin, b));

    const bool ofDifference =
        m_map.query.quantity == MapQuantity::Difference || m_map.query.quantity == MapQuantity::Ulp;
    const bool same = a == b;
    for (Index i = 0; i < count; ++i) {
        const Index atRow = m_rowsOutside ? outer : innerFirst + i;
        const Index atColumn = m_rowsOutside ? innerFirst + i : outer;
        MapCell &cell = m_map.cells[cellOf(atRow, window.rows, m_map.rows) * m_map.columns
                                    + cellOf(atColumn, window.columns, m_map.columns)];
        ++cell.elements;
        const Index index = *first + i * stride, local = index - readFirst;
        if (ofDifference && bits % 8 == 0) {
            const std::size_t width = std::size_t(bits / 8);
            if (same || std::memcmp(a.data() + local * width, b.data() + local * width, width) == 0)
                continue; // zero, or equal without being finite: nothing to show
        }
        takeElement(cell, a, b, local, index);
    }
    return {};
}

void MapBuilder::takeElement(MapCell &cell, ByteView a, ByteView b, Index local, Index index)
{
    const DType &dtype = m_pair.tensorA().dtype;
    const ElementRow row =
        makeElementRow(dtype, index, elementBits(dtype, a, local), elementBits(dtype, b, local));
    cell.differing += row.differs ? 1 : 0;
    const bool ofDifference =
        m_map.query.quantity == MapQuantity::Difference || m_map.query.quantity == MapQuantity::Ulp;
    if (ofDifference && !row.differs)
        return;
    const std::optional<double> value = valueOf(row, m_map.query.quantity);
    if (!value) {
        ++cell.notFinite;
        return;
    }
    const double magnitude = std::fabs(*value);
    const bool first = cell.index == NoIndex;
    const double before = std::fabs(cell.value);
    if (first || magnitude > before || (magnitude == before && index < cell.index)) {
        cell.value = *value;
        cell.index = index;
    }
    m_map.largest = std::max(m_map.largest, magnitude);
}

} // namespace forkpoint
