// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5_description.h"
#include "model/tensor_ref.h"

#include <vector>

namespace forkpoint {

/// The extent of a whole source, whose shape is `source`, cut to what a mapping shows of it and put
/// where it shows it. Malformed where the boxes have unlike sizes or leave their datasets.
Result<Extent> placed(const Extent &whole, const Shape &source, const Hdf5Mapping &mapping,
                      const Shape &shape);

/// Boxes that cover what the others leave of the shape; Unsupported where these overlap, Limit where
/// there are too many.
Result<std::vector<Box>> uncovered(const Shape &shape, const std::vector<Box> &covered);

} // namespace forkpoint
