// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// An object of a global heap: the address of its collection, and its number there.
struct GlobalHeapId
{
    std::uint64_t address = 0;
    std::uint64_t number = 0;

    static std::size_t bytes(); ///< as it is stored
};

/// Of bytes(), the address first.
GlobalHeapId globalHeapId(ByteView bytes);

/// The bytes of an object (HDF5 file format, "Global Heap"); Limit where it has more than `most`.
/// What collections hold is kept: many objects of one cost one walk through it.
Result<std::vector<std::byte>> readGlobalHeap(GlobalHeapId id, std::uint64_t most);
/// What is kept is of one file: before another is read.
void forgetGlobalHeaps();

} // namespace forkpoint
