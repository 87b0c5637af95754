// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

namespace forkpoint {

/// HDF5 files of any writer. libhdf5 looks through them in a process of its own (hdf5_client.h);
/// bytes of datasets are read and decoded here.
const Loader &hdf5Loader();

/// Whether the signature of an HDF5 file lies at the begin, or behind a user block of 512, 1024, ...
bool hasHdf5Signature(ByteView head, const ByteSource &source);

} // namespace forkpoint
