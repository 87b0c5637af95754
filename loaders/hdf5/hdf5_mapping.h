// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_selection.h"
#include "model/result.h"
#include "model/shape.h"

#include <vector>

namespace forkpoint {

/// A box of a virtual dataset and the box of its source whose elements it shows, in their order: of one shape,
/// dimensions of one element left out.
struct BoxPair
{
    Box own, source;
};

/// A selection of a dataset of that shape; `elements`: of a growing one, along the dimension in which it grows.
struct BoundSelection
{
    const Hdf5Selection &selection;
    const Shape &shape;
    std::uint64_t elements = 0;
};

/// Cuts two selections of as many elements into boxes that fit: the elements of both are taken row by row, as
/// libhdf5 does. Malformed where they leave their shapes or do not fit, Limit where more than `most` boxes
/// would be needed, Unsupported for single points.
Result<std::vector<BoxPair>> matchSelections(const BoundSelection &own,
                                             const BoundSelection &source, std::size_t most);

/// Dimensions in which a box has more than one element: the others change no order.
std::vector<std::size_t> longDimensions(const Box &box);

} // namespace forkpoint
