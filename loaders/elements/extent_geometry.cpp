// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/extent_geometry.h"

#include "model/bytes.h"

#include <algorithm>
#include <set>

namespace forkpoint {

namespace {

// Comparisons of two boxes that an overlap check may cost: far above any real sharding.
constexpr std::uint64_t MaxBoxPairs = 200'000'000;

Error unsound(std::string text, ErrorCode code = ErrorCode::Malformed)
{
    return {code, {}, {}, std::move(text)};
}

/// Row-major elements [first, end) that share all coordinates before `dim`: `prefix`.
class RangeSplitter
{
public:
    explicit RangeSplitter(const Shape &shape) : m_shape(shape), m_strides(shape.rowMajorStrides())
    {
    }

    std::vector<Box> split(Index first, Index count)
    {
        Index position = first;
        const Index end = first + count;
        while (position < end)
            position += takeLargest(position, end - position);
        return std::move(m_boxes);
    }

private:
    /// Adds the largest box that begins at `position`: as many whole slices of the outermost
    /// dimension at which `position` is aligned as `left` holds.
    Index takeLargest(Index position, Index left)
    {
        const std::vector<Index> origin = coordinatesOf(position, m_shape);
        for (std::size_t dim = 0; dim < m_shape.rank(); ++dim) {
            const Index slice = Index(m_strides[dim]);
            const Index slices = std::min(left / slice, m_shape.dims[dim] - origin[dim]);
            if (position % slice == 0 && slices > 0)
                return add(origin, dim, slices) * slice;
        }
        return add(origin, m_shape.rank(), 1); // rank 0: the one element
    }

    Index add(const std::vector<Index> &origin, std::size_t dim, Index slices)
    {
        Box box{origin, std::vector<Index>(m_shape.rank(), 1)};
        for (std::size_t i = dim; i < m_shape.rank(); ++i)
            box.size[i] = i == dim ? slices : m_shape.dims[i];
        m_boxes.push_back(std::move(box));
        return slices;
    }

    const Shape &m_shape;
    std::vector<std::int64_t> m_strides;
    std::vector<Box> m_boxes;
};

std::vector<Box> boxesOf(std::span<const Extent> extents, const Shape &shape)
{
    std::vector<Box> boxes;
    for (const Extent &extent : extents) {
        if (extent.fills == Extent::Fills::FlatRange) {
            auto parts = boxesOfRange(shape, extent.flatBegin, extent.flatCount);
            boxes.insert(boxes.end(), parts.begin(), parts.end());
        } else if (!isEmpty(extent.box)) {
            boxes.push_back(extent.box);
        }
    }
    return boxes;
}

/// The dimension in which the boxes begin at most different places.
std::size_t sweepDimension(const std::vector<Box> &boxes, std::size_t rank)
{
    std::size_t best = 0;
    std::size_t most = 0;
    for (std::size_t dim = 0; dim < rank; ++dim) {
        std::set<Index> origins;
        for (const Box &box : boxes)
            origins.insert(box.origin[dim]);
        if (origins.size() > most) {
            most = origins.size();
            best = dim;
        }
    }
    return best;
}

Status checkDisjoint(std::vector<Box> boxes, std::size_t rank)
{
    if (boxes.size() < 2)
        return {};
    if (rank == 0)
        return unsound("two parts of the tensor overlap");
    const std::size_t dim = sweepDimension(boxes, rank);
    std::sort(boxes.begin(), boxes.end(),
              [dim](const Box &a, const Box &b) { return a.origin[dim] < b.origin[dim]; });
    std::vector<const Box *> active;
    std::uint64_t pairs = 0;
    for (const Box &box : boxes) {
        std::erase_if(active, [&](const Box *other) {
            return other->origin[dim] + other->size[dim] <= box.origin[dim];
        });
        pairs += active.size();
        if (pairs > MaxBoxPairs)
            return unsound("its parts are too many to be checked for overlap", ErrorCode::Limit);
        for (const Box *other : active) {
            if (intersection(*other, box))
                return unsound("two parts of the tensor overlap");
        }
        active.push_back(&box);
    }
    return {};
}

/// Flat ranges alone are checked without taking them apart.
Status checkFlatCover(std::span<const Extent> extents, Index count)
{
    std::vector<std::pair<Index, Index>> ranges;
    for (const Extent &extent : extents) {
        if (extent.flatCount > 0)
            ranges.emplace_back(extent.flatBegin, extent.flatBegin + extent.flatCount);
    }
    std::sort(ranges.begin(), ranges.end());
    Index end = 0;
    for (const auto &[from, to] : ranges) {
        if (from < end)
            return unsound("two parts of the tensor overlap");
        if (from > end)
            break;
        end = to;
    }
    if (end == count)
        return {};
    return unsound("element " + std::to_string(end) + " is stored nowhere");
}

} // namespace

std::optional<std::uint64_t> bytesOf(Index count, std::uint64_t bits)
{
    if (bits % 8 == 0)
        return checkedMul(count, bits / 8);
    const auto all = checkedMul(count, bits);
    if (!all || *all % 8 != 0)
        return std::nullopt;
    return *all / 8;
}

bool isEmpty(const Box &box)
{
    return std::find(box.size.begin(), box.size.end(), Index(0)) != box.size.end();
}

Index volume(const Box &box)
{
    return Shape{box.size}.count().value_or(0);
}

std::optional<Box> intersection(const Box &a, const Box &b)
{
    Box common = a;
    for (std::size_t i = 0; i < a.origin.size(); ++i) {
        const Index from = std::max(a.origin[i], b.origin[i]);
        const Index to = std::min(a.origin[i] + a.size[i], b.origin[i] + b.size[i]);
        if (from >= to)
            return std::nullopt;
        common.origin[i] = from;
        common.size[i] = to - from;
    }
    return common;
}

std::vector<Box> boxesOfRange(const Shape &shape, Index first, Index count)
{
    if (shape.count().value_or(0) == 0)
        return {};
    return RangeSplitter(shape).split(first, count);
}

bool isWhole(const Extent &extent, const Shape &shape)
{
    if (extent.box.size != shape.dims)
        return false;
    const std::vector<std::int64_t> contiguous = shape.rowMajorStrides();
    for (std::size_t i = 0; i < contiguous.size(); ++i) {
        // The stride of a dimension of size 1 is never used; torch stores any number there.
        if (shape.dims[i] != 1 && extent.strides[i] != contiguous[i])
            return false;
    }
    return true;
}

Extent extentOfBytes(const Extent &extent, std::uint64_t bits)
{
    Extent result = extent;
    const auto width = std::int64_t(bits / 8);
    if (extent.fills == Extent::Fills::FlatRange) {
        result.flatBegin = bytesOf(extent.flatBegin, bits).value_or(0);
        result.flatCount = bytesOf(extent.flatCount, bits).value_or(0);
        return result;
    }
    if (bits % 8 != 0) {
        result.fills = Extent::Fills::FlatRange;
        result.flatCount = bytesOf(volume(extent.box), bits).value_or(0);
        result.offset += bytesOf(extent.firstElement, bits).value_or(0);
        return result;
    }
    result.box.origin.push_back(0);
    result.box.size.push_back(Index(width));
    result.strides.resize(extent.box.size.size(), 0); // a fill value has none
    for (std::int64_t &stride : result.strides)
        stride *= width;
    result.strides.push_back(1);
    result.firstElement *= std::uint64_t(width);
    return result;
}

Status checkCover(std::span<const Extent> extents, const Shape &shape)
{
    const Index count = shape.count().value_or(0);
    if (count == 0)
        return {};
    const bool flat = std::all_of(extents.begin(), extents.end(), [](const Extent &extent) {
        return extent.fills == Extent::Fills::FlatRange;
    });
    if (flat)
        return checkFlatCover(extents, count);
    std::vector<Box> boxes = boxesOf(extents, shape);
    Index covered = 0;
    for (const Box &box : boxes) {
        const auto sum = checkedAdd(covered, volume(box));
        if (!sum || *sum > count)
            return unsound("two parts of the tensor overlap");
        covered = *sum;
    }
    FP_CHECK(checkDisjoint(std::move(boxes), shape.rank()));
    if (covered == count)
        return {};
    return unsound(std::to_string(count - covered) + " of " + std::to_string(count)
                   + " elements are stored nowhere");
}

} // namespace forkpoint
