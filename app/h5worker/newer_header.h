// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/global_heap.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// How a dataset of HDF5 2.0 finds its filtered chunks. Its dataset layout message has version 5, which
/// is version 4 in all but this: the entries of its index say their sizes in 8 bytes, whatever they
/// are (HDF5 file format, "Data Layout Message").
struct NewerChunkIndex
{
    enum class Kind : std::uint8_t { FixedArray = 3, ExtensibleArray = 4, BTree2 = 5 };
    Kind kind = Kind::FixedArray;
    std::uint64_t address = 0; ///< of its header; ~0: no chunk was written
};

/// What libhdf5 must not be asked for.
struct AdaptedHeader
{
    std::optional<NewerChunkIndex> index; ///< of filtered chunks under layout 5
    std::optional<GlobalHeapId> sources;  ///< of a virtual dataset, whatever its layout's version
    std::vector<std::uint64_t> continuations; ///< where the header goes on
};

/// Looks at the object header (version 1 or 2) at that address before libhdf5 does, and shows libhdf5 the
/// versions that it knows where the newer ones are the same to a reader: layout 5 as 4, datatypes 4 and 5
/// as 3, in the object and in its attributes, wherever these are. Of virtual datasets it is shown that
/// they have no sources: it would open them, and give up at versions that it does not know. Nothing else
/// is touched, and a header whose checksums are wrong not at all.
AdaptedHeader adaptNewerHeader(std::uint64_t address);

} // namespace forkpoint
