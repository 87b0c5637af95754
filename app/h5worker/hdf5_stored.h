// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_elements.h"
#include "app/h5worker/hdf5_handle.h"
#include "model/bytes.h"
#include "model/result.h"

namespace forkpoint {

/// Reads elements of a type from their bytes as they are stored, one after the other, as libhdf5 would read
/// them into memory: what text and lists lead to in global heaps is read at once. What it leaves in memory
/// for them is given back as what libhdf5 leaves there. `type` must outlive the reader.
Result<Hdf5Reader> storedReader(const Hdf5Handle &type, ByteView elements);

} // namespace forkpoint
