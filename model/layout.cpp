// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout.h"

namespace forkpoint {

namespace {

/// Element of the extent's storage that holds the one at `at`, number `element` of the tensor.
std::optional<std::uint64_t> storedElement(const Extent &extent, const std::vector<Index> &at,
                                           Index element)
{
    if (extent.fills == Extent::Fills::FlatRange) {
        if (element < extent.flatBegin || element - extent.flatBegin >= extent.flatCount)
            return std::nullopt;
        return element - extent.flatBegin;
    }
    if (extent.fills != Extent::Fills::Box || extent.box.origin.size() != at.size())
        return std::nullopt;
    std::uint64_t stored = extent.firstElement;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const Index from = extent.box.origin[i];
        if (at[i] < from || at[i] - from >= extent.box.size[i])
            return std::nullopt;
        stored += (at[i] - from) * std::uint64_t(extent.strides[i]); // validated: it fits
    }
    return stored;
}

} // namespace

std::string ElementPlace::toString() const
{
    std::string text = owner.axes.empty() ? std::string() : owner.toString() + "'s part, ";
    return text + file + ", byte " + std::to_string(offset);
}

bool ElementPlaces::owned() const
{
    return (a && !a->owner.axes.empty()) || (b && !b->owner.axes.empty());
}

std::string ElementPlaces::toString() const
{
    const std::string textA = a ? a->toString() : std::string();
    const std::string textB = b ? b->toString() : std::string();
    if (textA == textB)
        return textA.empty() ? textA : textA + " in A and B";
    std::string text = textA.empty() ? textA : textA + " in A";
    if (!textB.empty())
        text += (text.empty() ? "" : "; ") + textB + " in B";
    return text;
}

std::optional<ElementPlace> placeOfElement(const Catalog &catalog, const TensorRef &tensor,
                                           Index element)
{
    const std::uint64_t bits = tensor.dtype.positionBits();
    const Index position = element / tensor.dtype.packing;
    if (bits % 8 != 0 || position >= tensor.shape.count().value_or(0))
        return std::nullopt;
    const std::vector<Index> at = coordinatesOf(position, tensor.shape);
    for (const Extent &extent : tensor.extents) {
        const auto stored = storedElement(extent, at, position);
        if (!stored)
            continue;
        ElementPlace place;
        if (extent.owner < catalog.owners.size())
            place.owner = catalog.owners[extent.owner];
        if (extent.file < catalog.files.size())
            place.file = catalog.files[extent.file];
        place.offset = extent.offset + *stored * (bits / 8);
        return place;
    }
    return std::nullopt;
}

} // namespace forkpoint
