// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/assembled_places.h"

#include <algorithm>
#include <optional>

namespace forkpoint {

namespace {

/// As many as differences are counted by (model/owner_differences.cpp).
constexpr std::size_t MostExtents = 1u << 16;

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

/// Whole rows of a part that is as wide as the whole, or one layer of a stack of wholes. False where
/// the piece is neither.
bool placeBoxes(const TensorRef &whole, const Piece &piece, Extents &boxes)
{
    const Shape &shape = piece.part.shape;
    const bool isLayer = shape.rank() == whole.shape.rank() + 1
        && std::equal(whole.shape.dims.begin(), whole.shape.dims.end(), shape.dims.begin() + 1);
    const bool isRows = shape.rank() > 0 && shape.rank() == whole.shape.rank()
        && std::equal(shape.dims.begin() + 1, shape.dims.end(), whole.shape.dims.begin() + 1);
    if (shape.rank() == 0 && whole.shape.rank() == 0)
        return true;
    const Index row = rowOf(shape);
    if (!(isLayer || isRows) || row == 0 || piece.first % row != 0 || piece.count % row != 0
        || piece.at % row != 0 || (isLayer && piece.count != row))
        return false;
    std::erase_if(boxes, [&](Extent &extent) {
        if (!clipFirstAxis(extent, piece.first / row, piece.count / row))
            return true;
        if (isLayer)
            dropFirstAxis(extent);
        else
            extent.box.origin[0] += piece.at / row - piece.first / row;
        return false;
    });
    return true;
}

std::optional<Extents> placeInTurn(const TensorRef &whole, const Piece &piece, std::uint64_t width)
{
    Extents boxes, ranges;
    for (const Extent &extent : piece.part.extents)
        (extent.fills == Extent::Fills::FlatRange ? ranges : boxes).push_back(extent);
    std::erase_if(ranges, [&](Extent &extent) { return !placeRange(extent, piece, width); });
    if (!boxes.empty() && !placeBoxes(whole, piece, boxes))
        return std::nullopt;
    boxes.insert(boxes.end(), ranges.begin(), ranges.end());
    return boxes;
}

/// A part beside others; ranges of whole rows are boxes there.
std::optional<Extents> placeColumns(const Piece &piece)
{
    Extents boxes = piece.part.extents;
    if (piece.part.shape.rank() != 2)
        return std::nullopt;
    const Index columns = piece.part.shape.dims[1];
    for (Extent &extent : boxes) {
        if (extent.fills == Extent::Fills::FlatRange) {
            if (columns == 0 || extent.flatBegin % columns != 0 || extent.flatCount % columns != 0)
                return std::nullopt;
            extent.fills = Extent::Fills::Box;
            extent.box = {{extent.flatBegin / columns, 0}, {extent.flatCount / columns, columns}};
            extent.strides = {std::int64_t(columns), 1};
            extent.firstElement = extent.flatBegin = extent.flatCount = 0;
        }
        extent.box.origin[1] += piece.at;
    }
    return boxes;
}

std::optional<Extents> placed(const TensorRef &whole, const AssemblyPlan &plan, const Piece &piece)
{
    if (piece.part.extents.empty() || piece.part.extents.size() > MostExtents)
        return std::nullopt;
    auto extents = plan.how == AssemblyPlan::How::Rows
        ? placeColumns(piece)
        : placeInTurn(whole, piece, whole.dtype.bits / 8);
    if (!extents)
        return std::nullopt;
    for (Extent &extent : *extents) {
        if (extent.owner == NoOwner)
            extent.owner = piece.part.owner;
    }
    return extents;
}

void addFiles(TensorRef &whole, const TensorRef &part)
{
    for (const std::string &file : part.files) {
        if (std::find(whole.files.begin(), whole.files.end(), file) == whole.files.end())
            whole.files.push_back(file);
    }
}

} // namespace

void addPlaces(TensorRef &whole, const AssemblyPlan &plan, const Catalog &below)
{
    const std::uint64_t width = whole.dtype.bits / 8;
    const bool byRows = plan.how == AssemblyPlan::How::Rows;
    bool isTold = whole.dtype.bits % 8 == 0 && whole.dtype.packing == 1 && width > 0;
    Index at = 0;
    for (const AssembledPiece &piece : plan.pieces) {
        for (std::size_t i = 0; i < piece.copies.size(); ++i) {
            const TensorRef &part = below.tensors[piece.copies[i]];
            addFiles(whole, part);
            if (!isTold)
                continue;
            auto extents = placed(whole, plan, {part, piece.first / width, piece.size / width, at});
            isTold = extents && whole.extents.size() + extents->size() <= MostExtents;
            if (!isTold)
                continue;
            if (i > 0)
                whole.replicas.push_back({part.owner, std::move(*extents)});
            else
                whole.extents.insert(whole.extents.end(), extents->begin(), extents->end());
        }
        at += isTold ? (byRows ? piece.size / plan.rows : piece.size) / width : 0;
    }
    if (!isTold) {
        whole.extents.clear();
        whole.replicas.clear();
    }
}

} // namespace forkpoint
