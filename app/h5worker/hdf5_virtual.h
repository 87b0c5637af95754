// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "loaders/hdf5_description.h"
#include "model/result.h"

#include <vector>

namespace forkpoint {

/// Where the elements of a virtual dataset are, by its creation properties. Boxes alone: Unsupported
/// for selections with gaps, and for those that grow with their sources.
Result<std::vector<Hdf5Mapping>> mappingsOf(const Hdf5Handle &creation);

} // namespace forkpoint
