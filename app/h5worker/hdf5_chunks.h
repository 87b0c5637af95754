// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "app/h5worker/newer_header.h"
#include "loaders/hdf5/hdf5_description.h"
#include "model/result.h"

#include <functional>
#include <optional>
#include <vector>

namespace forkpoint {

/// Hands the stored chunks of a dataset to `take`, by number, some at a time (Hdf5ChunksPerFrame at most).
/// `described` has its shape and that of the chunks; `index` is what libhdf5 must not be asked for. An error
/// says that there are others, or too many.
Status listChunks(const Hdf5Handle &dataset, const Hdf5Dataset &described,
                  const std::optional<NewerChunkIndex> &index,
                  const std::function<void(const std::vector<Hdf5Chunk> &)> &take);

} // namespace forkpoint
