// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/global_heap.h"
#include "loaders/hdf5_description.h"
#include "model/result.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// Where the elements of a virtual dataset of the shape `dims` are: HDF5 file format, "Global Heap Block for
/// Virtual Datasets", versions 0 and 1. A mapping of elements that lie apart is told as one of each box.
/// Unsupported for selections that are no grid, and for those that grow with their sources.
Result<std::vector<Hdf5Mapping>> readVirtualLayout(GlobalHeapId id,
                                                   const std::vector<std::uint64_t> &dims);

} // namespace forkpoint
