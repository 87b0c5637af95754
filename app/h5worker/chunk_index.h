// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/found_chunks.h"
#include "app/h5worker/newer_header.h"

namespace forkpoint {

/// The filtered chunks that an index lists (HDF5 file format, "Version 4 (and later) chunk indexes"), by
/// number. Addresses and lengths of the file have 8 bytes. An error names the block that is damaged; no
/// block is read twice, and no more chunks are listed than the grid has places or MostChunks.
Result<std::vector<Hdf5Chunk>> readChunkIndex(const NewerChunkIndex &index, const ChunkGrid &grid);

} // namespace forkpoint
