// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/extent_reader.h"

#include "loaders/elements/box_copy.h"
#include "loaders/elements/element_transform.h"
#include "loaders/elements/extent_geometry.h"
#include "loaders/limits.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

using Files = std::span<const std::shared_ptr<const ByteSource>>;

// ---- validation --------------------------------------------------------------------------------

Error malformed(std::string text)
{
    return {ErrorCode::Malformed, {}, {}, std::move(text)};
}

Status checkPlace(const Extent &extent, Files files)
{
    if (extent.file >= files.size())
        return malformed("an extent names a file that is not there");
    const ByteSource &file = *files[extent.file];
    const auto end = checkedAdd(extent.offset, extent.length);
    if (end && *end <= file.size())
        return {};
    return Error{ErrorCode::Truncated, file.name(), "byte " + std::to_string(extent.offset),
                 "needs " + std::to_string(extent.length) + " bytes from here, ends at byte "
                     + std::to_string(file.size())};
}

Status checkBoxInside(const Extent &extent, const Shape &shape)
{
    const Box &box = extent.box;
    if (box.origin.size() != shape.rank() || box.size.size() != shape.rank())
        return malformed("a box has another rank than its tensor");
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        const auto end = checkedAdd(box.origin[i], box.size[i]);
        if (!end || *end > shape.dims[i])
            return malformed("a box leaves the shape in dimension " + std::to_string(i));
    }
    return {};
}

/// Every element that the strides reach lies inside the storage.
Status checkAddresses(const Extent &extent, std::uint64_t positionBits)
{
    if (extent.strides.size() != extent.box.size.size())
        return malformed("a box has another number of strides than dimensions");
    if (isEmpty(extent.box))
        return {};
    __extension__ using Wide = __int128;
    constexpr Wide Beyond = Wide(1) << 64;
    Wide lowest = extent.firstElement;
    Wide highest = extent.firstElement;
    for (std::size_t i = 0; i < extent.strides.size(); ++i) {
        // Below 2^64 times at most 2^63: the product fits, and the sums stay far below.
        const Wide reach = Wide(extent.box.size[i] - 1) * extent.strides[i];
        if (reach >= Beyond || lowest + std::min<Wide>(reach, 0) < 0)
            return malformed("strides lead out of the storage");
        (reach < 0 ? lowest : highest) += reach;
    }
    if ((highest + 1) * Wide(positionBits) <= Wide(extent.length) * 8)
        return {};
    if (highest >= Beyond)
        return malformed("strides lead out of the storage");
    return malformed("the view reaches element " + std::to_string(std::uint64_t(highest))
                     + " of a storage of "
                     + std::to_string(std::uint64_t(Wide(extent.length) * 8 / positionBits)));
}

Status checkExtent(const Extent &extent, const TensorRef &tensor, Index count, Files files)
{
    const std::uint64_t bits = tensor.dtype.positionBits();
    switch (extent.fills) {
    case Extent::Fills::FillValue:
        FP_CHECK(checkBoxInside(extent, tensor.shape));
        if (bits % 8 != 0 || extent.fill.size() != bits / 8)
            return malformed("a fill value has another width than its elements");
        if (!extent.strides.empty())
            return malformed("a fill value has no strides");
        return {};
    case Extent::Fills::FlatRange: {
        FP_CHECK(checkPlace(extent, files));
        const auto end = checkedAdd(extent.flatBegin, extent.flatCount);
        if (!end || *end > count)
            return malformed("a range of elements leaves the shape");
        const auto needed = bytesOf(extent.flatCount, bits);
        if (!needed || *needed > extent.length)
            return malformed("a range of elements is longer than its bytes");
        if (bytesOf(extent.flatBegin, bits) == std::nullopt)
            return malformed("a range of packed elements begins inside a byte");
        return {};
    }
    case Extent::Fills::Box:
        FP_CHECK(checkPlace(extent, files));
        FP_CHECK(checkBoxInside(extent, tensor.shape));
        FP_CHECK(checkAddresses(extent, bits));
        if (bits % 8 != 0 && !isWhole(extent, tensor.shape))
            return malformed("packed elements narrower than a byte must be contiguous");
        return {};
    }
    return {};
}

Status checkExpansion(const TensorRef &tensor, std::uint64_t bytes)
{
    std::uint64_t stored = 0;
    for (const Extent &extent : tensor.extents) {
        if (extent.fills == Extent::Fills::FillValue)
            return {}; // costs no reading, and chunked formats may be sparse
        stored = checkedAdd(stored, extent.length).value_or(bytes);
    }
    if (bytes <= limits::ExpandedBytes || stored >= bytes)
        return {};
    return Error{ErrorCode::Limit,
                 {},
                 {},
                 "an expanded view may have at most " + std::to_string(limits::ExpandedBytes)
                     + " bytes, has " + std::to_string(bytes)};
}

// ---- reading -----------------------------------------------------------------------------------

/// A request in whole elements: `out` holds [first, first + count) of the logical tensor.
struct Window
{
    Index first = 0;
    Index count = 0;
    MutableByteView out;
};

class WindowReader
{
public:
    WindowReader(const TensorRef &tensor, Files files)
        : m_tensor(tensor),
          m_files(files),
          m_width(tensor.dtype.positionBits() / 8)
    {
    }

    /// Fills the window with stored elements in little-endian order.
    Status read(const Window &window)
    {
        Index filled = 0;
        for (const Extent &extent : m_tensor.extents) {
            FP_TRY(const Index part, readExtent(extent, window));
            filled += part;
            if (filled >= window.count)
                return {};
        }
        return malformed("parts of the tensor are stored nowhere");
    }

private:
    Result<Index> readExtent(const Extent &extent, const Window &window)
    {
        if (extent.fills == Extent::Fills::FlatRange)
            return readFlat(extent, 0, extent.flatBegin, extent.flatCount, window);
        if (extent.fills == Extent::Fills::Box && isWhole(extent, m_tensor.shape)) {
            const Index all = m_tensor.shape.count().value_or(0);
            return readFlat(extent, extent.firstElement, 0, all, window);
        }
        if (m_boxes.empty())
            m_boxes = boxesOfRange(m_tensor.shape, window.first, window.count);
        Index filled = 0;
        for (const Box &box : m_boxes) {
            const auto part = intersection(box, extent.box);
            if (!part)
                continue;
            FP_CHECK(readBox(extent, *part, window));
            filled += volume(*part);
        }
        return filled;
    }

    /// Elements [begin, begin + count) of the tensor lie together, from `stored` of the storage on.
    Result<Index> readFlat(const Extent &extent, Index stored, Index begin, Index count,
                           const Window &window)
    {
        const Index from = std::max(begin, window.first);
        const Index to = std::min(begin + count, window.first + window.count);
        if (from >= to)
            return Index(0);
        const auto out = window.out.subspan((from - window.first) * m_width, (to - from) * m_width);
        const std::uint64_t place = extent.offset + (stored + from - begin) * m_width;
        FP_CHECK(m_files[extent.file]->read(place, out));
        if (extent.order == ByteOrder::Big)
            swapBytes(m_tensor.dtype, out);
        return to - from;
    }

    Status readBox(const Extent &extent, const Box &part, const Window &window)
    {
        const std::vector<std::int64_t> logical = m_tensor.shape.rowMajorStrides();
        const bool filled = extent.fills == Extent::Fills::FillValue;
        BoxCopy copy;
        copy.width = m_width;
        copy.out = window.out;
        // Modulo 2^64: sums whose results are known to lie in the storage and in the window.
        std::uint64_t source = filled ? 0 : extent.firstElement;
        std::uint64_t target = 0 - window.first;
        for (std::size_t i = 0; i < part.size.size(); ++i) {
            const std::int64_t stride = extent.strides.empty() ? 0 : extent.strides[i];
            source += (part.origin[i] - extent.box.origin[i]) * std::uint64_t(stride);
            target += part.origin[i] * std::uint64_t(logical[i]);
            copy.loops.push_back({part.size[i], stride, logical[i]});
        }
        copy.target = target * m_width;
        copy.source = source * m_width;
        if (filled)
            return copyBox(copy, MemorySource("fill value", extent.fill), nullptr);
        copy.source += extent.offset;
        const DType *swapped = extent.order == ByteOrder::Big ? &m_tensor.dtype : nullptr;
        return copyBox(copy, *m_files[extent.file], swapped);
    }

    const TensorRef &m_tensor;
    Files m_files;
    std::uint64_t m_width;
    std::vector<Box> m_boxes; ///< of the one window this reader is used for
};

/// Whole elements of the window, views resolved.
Status readElements(const TensorRef &tensor, Files files, const Window &window)
{
    if (window.count == 0)
        return {};
    FP_CHECK(WindowReader(tensor, files).read(window));
    if (tensor.negate)
        negateElements(tensor.dtype, window.out);
    if (tensor.conjugate)
        conjugateElements(tensor.dtype, window.out);
    return {};
}

/// Elements narrower than a byte, or so wide that one of them must not be buffered: no transform
/// applies to them and they are contiguous or opaque, so plain byte ranges suffice.
Status readBytes(const TensorRef &tensor, Files files, std::uint64_t firstByte, MutableByteView out)
{
    TensorRef asBytes;
    asBytes.dtype = opaqueDType(1);
    const std::uint64_t bits = tensor.dtype.positionBits();
    const Index count = tensor.shape.count().value_or(0);
    asBytes.shape = tensor.shape;
    if (bits % 8 != 0)
        asBytes.shape.dims = {bytesOf(count, bits).value_or(0)};
    else
        asBytes.shape.dims.push_back(bits / 8);
    for (const Extent &extent : tensor.extents)
        asBytes.extents.push_back(extentOfBytes(extent, bits));
    return readElements(asBytes, files, {firstByte, out.size(), out});
}

/// Bytes [from, to) of one element.
Status readPartOfElement(const TensorRef &tensor, Files files, Index element, std::uint64_t from,
                         MutableByteView out)
{
    std::array<std::byte, MaxTransformedWidth> whole;
    const auto bytes = MutableByteView(whole).first(tensor.dtype.positionBits() / 8);
    FP_CHECK(readElements(tensor, files, {element, 1, bytes}));
    std::copy_n(bytes.begin() + std::ptrdiff_t(from), out.size(), out.begin());
    return {};
}

} // namespace

Status validateExtents(const TensorRef &tensor, Files files)
{
    if (tensor.shape.rank() > limits::Rank) {
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "may have at most " + std::to_string(limits::Rank) + " dimensions, has "
                         + std::to_string(tensor.shape.rank())};
    }
    const auto count = tensor.shape.count();
    const std::uint64_t bits = tensor.dtype.positionBits();
    const auto bytes = count ? bytesOf(*count, bits) : std::nullopt;
    if (!bytes) {
        return malformed(count ? "its elements are no whole number of bytes below 2^64"
                               : "its shape has more elements than 64 bits can count");
    }
    for (const Extent &extent : tensor.extents)
        FP_CHECK(checkExtent(extent, tensor, *count, files));
    FP_CHECK(checkCover(tensor.extents, tensor.shape));
    return checkExpansion(tensor, *bytes);
}

Status readExtents(const TensorRef &tensor, Files files, std::uint64_t firstByte,
                   MutableByteView out)
{
    const std::uint64_t bits = tensor.dtype.positionBits();
    const auto bytes = bytesOf(tensor.shape.count().value_or(0), bits);
    if (!bytes || firstByte > *bytes || out.size() > *bytes - firstByte) {
        return Error{ErrorCode::Usage,
                     {},
                     "tensor '" + tensor.name + "'",
                     "a read must lie inside the tensor's bytes"};
    }
    if (out.empty())
        return {};
    if (bits % 8 != 0 || bits / 8 > MaxTransformedWidth)
        return readBytes(tensor, files, firstByte, out);

    const std::uint64_t width = bits / 8;
    Index element = firstByte / width;
    if (const std::uint64_t skipped = firstByte % width; skipped != 0) {
        const auto head = out.first(std::min<std::uint64_t>(width - skipped, out.size()));
        FP_CHECK(readPartOfElement(tensor, files, element++, skipped, head));
        out = out.subspan(head.size());
    }
    const Index whole = out.size() / width;
    FP_CHECK(readElements(tensor, files, {element, whole, out.first(whole * width)}));
    out = out.subspan(whole * width);
    return out.empty() ? Status() : readPartOfElement(tensor, files, element + whole, 0, out);
}

} // namespace forkpoint
