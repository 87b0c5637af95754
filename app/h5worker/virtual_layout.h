// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/global_heap.h"
#include "loaders/hdf5/hdf5_description.h"
#include "model/result.h"

#include <vector>

namespace forkpoint {

/// Where the elements of a virtual dataset are: HDF5 file format, "Global Heap Block for Virtual Datasets",
/// versions 0 and 1, without mappings of nothing. Unsupported for single points, which libhdf5 does not write.
Result<std::vector<Hdf5Mapping>> readVirtualLayout(GlobalHeapId id);

} // namespace forkpoint
