// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_description.h"
#include "loaders/hdf5/hdf5_worker_options.h"
#include "loaders/storage/byte_source.h"

#include <stop_token>

namespace forkpoint {

/// Why this program cannot open HDF5 files; empty where it can.
std::string whyNoHdf5();

/// Lets the worker look through an HDF5 file and gathers what it tells. The worker is a process of
/// its own that has no file: it asks for ranges of `source`. Whatever becomes of it (a crash, a
/// loop, no memory) is one problem of what was gathered until then, or the error where that is
/// nothing.
Result<Hdf5Contents> describeHdf5(const ByteSource &source, const Hdf5WorkerOptions &options,
                                  std::stop_token stop);

} // namespace forkpoint
