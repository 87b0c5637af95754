// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"

#include <optional>
#include <string>

namespace forkpoint {

/// Where one element of a tensor is stored.
struct ElementPlace
{
    OwnerCoordinate owner;    ///< without axes where no rank is known
    std::string file;         ///< as errors name it
    std::uint64_t offset = 0; ///< of the element's first byte in that file

    /// "rank 3's part, __3_0.distcp, byte 4096"
    std::string toString() const;
};

/// Where one element of a pair is stored on each side.
struct ElementPlaces
{
    std::optional<ElementPlace> a, b;

    /// Some rank is known to own it: worth a line.
    bool owned() const;
    /// "rank 3's part, __3_0.distcp, byte 4096 in A; rank 1's part, ... in B"
    std::string toString() const;
};

/// The place of the row-major element number `element`. Nothing where no extent holds it, where it
/// is a fill value, or where elements are narrower than a byte.
std::optional<ElementPlace> placeOfElement(const Catalog &catalog, const TensorRef &tensor,
                                           Index element);

} // namespace forkpoint
