// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

namespace forkpoint {

/// Undoes a bit shuffle: `planes` has one row of bits for each bit of an element, lowest first;
/// `out` gets the elements. Their number is a multiple of 8; both spans have their bytes.
void joinBitPlanes(ByteView planes, std::size_t elementSize, MutableByteView out);

} // namespace forkpoint
