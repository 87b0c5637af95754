// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <string>

namespace forkpoint {

/// SHA-256 of some bytes in memory, 64 lower-case hexadecimal digits.
std::string sha256Hex(ByteView bytes);

} // namespace forkpoint
