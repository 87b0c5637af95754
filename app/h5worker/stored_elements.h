// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/worker_link.h"
#include "loaders/hdf5/hdf5_description.h"
#include "model/result.h"

#include <vector>

namespace forkpoint {

/// Bytes of all elements of one dataset that are read here, at most.
inline constexpr std::uint64_t MostElementBytes = 64u << 20;

/// The elements of a chunked dataset as they are stored, row-major, the fill value where there is no chunk.
/// The parent undoes the filters. Limit over MostElementBytes, or where a frame does not hold a chunk.
Result<std::vector<std::byte>> readStoredElements(WorkerLink &link, const Hdf5Dataset &dataset,
                                                  const std::vector<Hdf5Chunk> &chunks);

} // namespace forkpoint
