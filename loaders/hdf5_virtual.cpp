// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5_virtual.h"

#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Boxes that what is not covered falls into.
constexpr std::size_t Pieces = 20'000;

Error malformed(std::string text)
{
    return {ErrorCode::Malformed, {}, {}, std::move(text)};
}

bool isInside(const std::vector<std::uint64_t> &begin, const std::vector<std::uint64_t> &size,
              const Shape &shape)
{
    if (begin.size() != shape.rank() || size.size() != shape.rank())
        return false;
    for (std::size_t i = 0; i < begin.size(); ++i) {
        const auto end = checkedAdd(begin[i], size[i]);
        if (!end || *end > shape.dims[i])
            return false;
    }
    return true;
}

/// Dimensions in which a box has more than one element: the others change no order.
std::vector<std::size_t> longOnes(const std::vector<std::uint64_t> &size)
{
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < size.size(); ++i) {
        if (size[i] != 1)
            found.push_back(i);
    }
    return found;
}

bool isEmpty(const Box &box)
{
    return std::find(box.size.begin(), box.size.end(), Index(0)) != box.size.end();
}

bool meet(const Box &a, const Box &b)
{
    for (std::size_t i = 0; i < a.size.size(); ++i) {
        if (a.origin[i] >= b.origin[i] + b.size[i] || b.origin[i] >= a.origin[i] + a.size[i])
            return false;
    }
    return !isEmpty(a) && !isEmpty(b);
}

/// What is left of `from` without `part`, which lies partly in it: slabs, dimension by dimension.
void cut(Box from, const Box &part, std::vector<Box> &left)
{
    for (std::size_t i = 0; i < from.size.size(); ++i) {
        const Index end = from.origin[i] + from.size[i];
        const Index begin = std::max(from.origin[i], part.origin[i]);
        const Index stop = std::min(end, part.origin[i] + part.size[i]);
        if (begin > from.origin[i]) {
            left.push_back(from);
            left.back().size[i] = begin - from.origin[i];
        }
        if (stop < end) {
            left.push_back(from);
            left.back().origin[i] = stop;
            left.back().size[i] = end - stop;
        }
        from.origin[i] = begin;
        from.size[i] = stop - begin;
    }
}

} // namespace

Result<Extent> placed(const Extent &whole, const Shape &source, const Hdf5Mapping &mapping,
                      const Shape &shape)
{
    const bool isAll = mapping.sourceSize.empty();
    const std::vector<std::uint64_t> begin =
        isAll ? std::vector<std::uint64_t>(source.rank(), 0) : mapping.sourceBegin;
    const std::vector<std::uint64_t> &size = isAll ? source.dims : mapping.sourceSize;
    if (!isInside(mapping.begin, mapping.size, shape))
        return malformed("shows a source outside of its own shape");
    if (!isInside(begin, size, source))
        return malformed("shows more of '" + mapping.dataset + "' of '" + mapping.file
                         + "' than its shape " + source.toString());
    const auto own = longOnes(mapping.size), other = longOnes(size);
    const bool isAlike =
        std::equal(own.begin(), own.end(), other.begin(), other.end(),
                   [&](std::size_t i, std::size_t j) { return mapping.size[i] == size[j]; });
    if (!isAlike)
        return malformed("shows a box " + Shape{size}.toString() + " of '" + mapping.dataset
                         + "' as a box " + Shape{mapping.size}.toString());
    Extent extent = whole;
    const std::vector<std::int64_t> strides = source.rowMajorStrides();
    extent.box = {mapping.begin, mapping.size};
    extent.strides.assign(shape.rank(), 0);
    for (std::size_t i = 0; i < own.size(); ++i)
        extent.strides[own[i]] = strides[other[i]];
    extent.firstElement = 0;
    for (std::size_t i = 0; i < begin.size(); ++i)
        extent.firstElement += begin[i] * std::uint64_t(strides[i]);
    return extent;
}

Result<std::vector<Box>> uncovered(const Shape &shape, const std::vector<Box> &covered)
{
    for (std::size_t i = 0; i < covered.size(); ++i) {
        for (std::size_t j = i + 1; j < covered.size(); ++j) {
            if (meet(covered[i], covered[j]))
                return Error{ErrorCode::Unsupported, {}, {}, "shows two sources at one place"};
        }
    }
    std::vector<Box> open{{std::vector<Index>(shape.rank(), 0), shape.dims}};
    for (const Box &part : covered) {
        std::vector<Box> left;
        for (Box &box : open) {
            if (meet(box, part))
                cut(std::move(box), part, left);
            else
                left.push_back(std::move(box));
        }
        open = std::move(left);
        if (open.size() > Pieces)
            return Error{ErrorCode::Limit, {}, {}, "leaves too many places without a source"};
    }
    std::erase_if(open, isEmpty);
    return open;
}

} // namespace forkpoint
