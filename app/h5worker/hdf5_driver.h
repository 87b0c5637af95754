// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "app/h5worker/newer_header.h"
#include "app/h5worker/parent_file.h"
#include "app/h5worker/worker_link.h"
#include "model/result.h"

#include <cstdint>
#include <optional>

namespace forkpoint {

/// Where the parent's file is the only one there is: a file driver of libhdf5 that asks the parent
/// for bytes, a page at a time, and opens nothing. The second file that libhdf5 wants (an external
/// link, the source of a virtual dataset) is refused.
Result<Hdf5Handle> openParentFile(WorkerLink &link, std::uint64_t fileBytes);

/// Of the object whose header libhdf5 has read at an address: what it cannot be asked for.
AdaptedHeader adaptedHeader(std::uint64_t address);

struct StoredRange
{
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// While this lives, the driver notes where raw data lie instead of reading them. That is how the
/// place of a chunk is learnt in logarithmic time: libhdf5's own calls walk over all chunks before
/// it.
class RawDataProbe
{
public:
    RawDataProbe();
    RawDataProbe(const RawDataProbe &) = delete;
    RawDataProbe &operator=(const RawDataProbe &) = delete;
    ~RawDataProbe();

    /// The range asked for since the last call, if it was one.
    std::optional<StoredRange> take();
};

} // namespace forkpoint
