// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <cstdint>

namespace forkpoint {

/// The checksum that ends every block of metadata since superblock 2: "lookup3" of Bob Jenkins,
/// hashlittle() with the initial value 0.
std::uint32_t metadataChecksum(ByteView bytes);

} // namespace forkpoint
