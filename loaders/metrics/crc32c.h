// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <cstdint>

namespace forkpoint {

/// CRC-32C (Castagnoli, polynomial 0x1EDC6F41, reflected), as RFC 3720 defines it.
std::uint32_t crc32c(ByteView bytes);

/// As TFRecord stores it: turned by 15 bits and shifted by a constant, so that a checksum of bytes
/// that hold checksums is no trivial one.
std::uint32_t maskedCrc32c(ByteView bytes);

} // namespace forkpoint
