// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/assembled_places.h"

#include "model/extent_index.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace forkpoint {

namespace {

using Extents = std::vector<Extent>;

/// Elements of a row: of what one step along the first axis goes past.
Index rowOf(const Shape &shape)
{
    Index row = 1;
    for (std::size_t i = 1; i < shape.rank(); ++i)
        row *= shape.dims[i]; // the shape's count fits
    return row;
}

/// Where a piece lies: `count` elements of a part, from `first` on.
struct Piece
{
    const TensorRef &part;
    Index first = 0, count = 0;
    Index at = 0; ///< InTurn: element of the whole; Rows: column
};

/// Of the box the positions [from, from + count) of the first axis; false where there are none.
bool clipFirstAxis(Extent &extent, Index from, Index count)
{
    const Index begin = std::max(extent.box.origin[0], from);
    const Index end = std::min(extent.box.origin[0] + extent.box.size[0], from + count);
    if (begin >= end)
        return false;
    if (extent.fills == Extent::Fills::Box)
        extent.firstElement += (begin - extent.box.origin[0]) * Index(extent.strides[0]);
    extent.box.origin[0] = begin;
    extent.box.size[0] = end - begin;
    return true;
}

void dropFirstAxis(Extent &extent)
{
    extent.box.origin.erase(extent.box.origin.begin());
    extent.box.size.erase(extent.box.size.begin());
    if (!extent.strides.empty())
        extent.strides.erase(extent.strides.begin());
}

/// A stretch of the row-major order that lies in the piece, where it lies in the whole.
bool placeRange(Extent &extent, const Piece &piece, std::uint64_t width)
{
    const Index begin = std::max(extent.flatBegin, piece.first);
    const Index end = std::min(extent.flatBegin + extent.flatCount, piece.first + piece.count);
    if (begin >= end)
        return false;
    extent.offset += (begin - extent.flatBegin) * width;
    extent.length = (end - begin) * width;
    extent.flatBegin = piece.at + (begin - piece.first);
    extent.flatCount = end - begin;
    return true;
}

/// Which boxes of the part fit the whole: all of a whole row or more, or one layer of a stack.
enum class Fit { None, Scalar, Rows, Layer };

Fit fitOf(const TensorRef &whole, const Piece &piece)
{
    const Shape &shape = piece.part.shape;
    if (shape.rank() == 0 && whole.shape.rank() == 0)
        return Fit::Scalar;
    const bool isLayer = shape.rank() == whole.shape.rank() + 1
        && std::equal(whole.shape.dims.begin(), whole.shape.dims.end(), shape.dims.begin() + 1);
    const bool isRows = shape.rank() > 0 && shape.rank() == whole.shape.rank()
        && std::equal(shape.dims.begin() + 1, shape.dims.end(), whole.shape.dims.begin() + 1);
    const Index row = rowOf(shape);
    if (!(isLayer || isRows) || row == 0 || piece.first % row != 0 || piece.count % row != 0
        || piece.at % row != 0 || (isLayer && piece.count != row))
        return Fit::None;
    return isLayer ? Fit::Layer : Fit::Rows;
}

/// False where nothing of the box lies in the piece.
bool placeBox(Extent &extent, const Piece &piece, Fit fit)
{
    if (fit == Fit::Scalar)
        return true;
    const Index row = rowOf(piece.part.shape);
    if (!clipFirstAxis(extent, piece.first / row, piece.count / row))
        return false;
    if (fit == Fit::Layer)
        dropFirstAxis(extent);
    else
        extent.box.origin[0] += piece.at / row - piece.first / row;
    return true;
}

/// Whether anything of a box can lie in the piece: most of a stack's do not, and are not copied.
bool mayLieIn(const Extent &extent, const Piece &piece, Fit fit)
{
    if (fit == Fit::Scalar || extent.fills == Extent::Fills::FlatRange)
        return true;
    const Index row = rowOf(piece.part.shape), from = piece.first / row;
    return extent.box.origin[0] < from + piece.count / row
        && extent.box.origin[0] + extent.box.size[0] > from;
}

/// Adds what of the part lies in the piece, in its place of the whole; false where boxes cannot tell.
bool placeInTurn(const TensorRef &whole, const Piece &piece, std::uint64_t width, Extents &placed)
{
    const Fit fit = fitOf(whole, piece);
    for (const Extent &extent : piece.part.extents) {
        const bool isRange = extent.fills == Extent::Fills::FlatRange;
        if (!isRange && fit == Fit::None)
            return false;
        if (!mayLieIn(extent, piece, fit))
            continue;
        placed.push_back(extent);
        if (!(isRange ? placeRange(placed.back(), piece, width)
                      : placeBox(placed.back(), piece, fit)))
            placed.pop_back();
    }
    return true;
}

/// A part beside others; ranges of whole rows are boxes there.
bool placeColumns(const Piece &piece, Extents &placed)
{
    if (piece.part.shape.rank() != 2)
        return false;
    const Index columns = piece.part.shape.dims[1];
    for (const Extent &from : piece.part.extents) {
        placed.push_back(from);
        Extent &extent = placed.back();
        if (extent.fills == Extent::Fills::FlatRange) {
            if (columns == 0 || extent.flatBegin % columns != 0 || extent.flatCount % columns != 0)
                return false;
            extent.fills = Extent::Fills::Box;
            extent.box = {{extent.flatBegin / columns, 0}, {extent.flatCount / columns, columns}};
            extent.strides = {std::int64_t(columns), 1};
            extent.firstElement = extent.flatBegin = extent.flatCount = 0;
        }
        extent.box.origin[1] += piece.at;
    }
    return true;
}

/// Gathers the places of a whole: the first copy's extents, and those of further copies by owner.
class Places
{
public:
    Places(const TensorRef &whole, const AssemblyPlan &plan) : m_whole(whole), m_plan(plan) {}

    /// False where it cannot be told, or is more than is worth telling.
    bool add(const Piece &piece, bool isCopy)
    {
        Extents &placed = isCopy ? m_copies[piece.part.owner] : m_extents;
        const std::size_t before = placed.size();
        const bool isTold = !piece.part.extents.empty()
            && piece.part.extents.size() <= MostToldExtents
            && (m_plan.how == AssemblyPlan::How::Rows
                    ? placeColumns(piece, placed)
                    : placeInTurn(m_whole, piece, m_whole.dtype.bits / 8, placed));
        for (std::size_t i = before; i < placed.size(); ++i) {
            if (placed[i].owner == NoOwner)
                placed[i].owner = piece.part.owner;
        }
        m_count += placed.size() - before;
        return isTold && m_count <= MostToldExtents;
    }

    void give(TensorRef &whole)
    {
        whole.extents = std::move(m_extents);
        for (auto &[owner, extents] : m_copies)
            whole.replicas.push_back({owner, std::move(extents)});
    }

private:
    const TensorRef &m_whole;
    const AssemblyPlan &m_plan;
    Extents m_extents;
    std::map<OwnerIndex, Extents> m_copies;
    std::size_t m_count = 0;
};

void addFiles(TensorRef &whole, const AssemblyPlan &plan, const Catalog &below)
{
    std::set<std::string_view> seen;
    for (const AssembledPiece &piece : plan.pieces) {
        for (const TensorIndex copy : piece.copies) {
            for (const std::string &file : below.tensors[copy].files) {
                if (seen.insert(file).second)
                    whole.files.push_back(file);
            }
        }
    }
}

} // namespace

void addPlaces(TensorRef &whole, const AssemblyPlan &plan, const Catalog &below)
{
    whole.files.clear();
    addFiles(whole, plan, below);
    const std::uint64_t width = whole.dtype.bits / 8;
    if (whole.dtype.bits % 8 != 0 || whole.dtype.packing != 1 || width == 0)
        return;
    const bool byRows = plan.how == AssemblyPlan::How::Rows;
    Places places(whole, plan);
    Index at = 0;
    for (const AssembledPiece &piece : plan.pieces) {
        for (std::size_t i = 0; i < piece.copies.size(); ++i) {
            const TensorRef &part = below.tensors[piece.copies[i]];
            if (!places.add({part, piece.first / width, piece.size / width, at}, i > 0))
                return;
        }
        at += (byRows ? piece.size / plan.rows : piece.size) / width;
    }
    places.give(whole);
}

} // namespace forkpoint
