// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "app/h5worker/worker_link.h"

namespace forkpoint {

/// Tells everything below the root group: each object once, links as links. Without recursion.
void tellFile(WorkerLink &link, const Hdf5Handle &file);

} // namespace forkpoint
