// SPDX-License-Identifier: GPL-3.0-or-later
// The parent's file, to whoever reads a part of its metadata beside libhdf5. The driver of libhdf5 has it
// (hdf5_driver.cpp); in tests it lies in memory (tests/support/parent_memory.h).
#pragma once

#include "model/bytes.h"

#include <cstdint>

namespace forkpoint {

/// Bytes at an address, as the metadata of the opened file say it: a user block before them is left
/// out. False where they cannot be had, or addresses and lengths of the file have other than 2, 4 or 8 bytes.
bool readParentFile(std::uint64_t address, MutableByteView out);
/// Other bytes than the file's, from here on, to whoever reads there.
void patchParentFile(std::uint64_t address, ByteView bytes);
/// The byte of the file at an address.
std::uint64_t parentFileByte(std::uint64_t address);

} // namespace forkpoint
