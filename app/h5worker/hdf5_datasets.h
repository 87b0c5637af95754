// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "app/h5worker/hdf5_values.h"
#include "app/h5worker/worker_link.h"

namespace forkpoint {

/// Tells what a dataset is and where its bytes lie; or its elements, where they are values.
void tellDataset(WorkerLink &link, const Hdf5Handle &dataset, const Hdf5Path &path,
                 std::uint64_t object);

} // namespace forkpoint
