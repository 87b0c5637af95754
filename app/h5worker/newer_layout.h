// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

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

/// Looks at the object at that byte before libhdf5 does. Where its layout is of version 5, libhdf5 is
/// shown version 4 from here on, of which it reads everything but an index of filtered chunks: that
/// comes back, and libhdf5 must not be asked for the elements. Nothing: it reads the object itself, or
/// says why it cannot.
std::optional<NewerChunkIndex> adaptNewerLayout(std::uint64_t address);

} // namespace forkpoint
