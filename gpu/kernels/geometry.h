// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/hd.h"

namespace forkpoint::kernels {

/// Parts of a block of the statistics: a part is an element, or half of a complex one.
constexpr int BlockParts = 2048;
/// Lanes of a block: lane l owns the parts l, l + 32, l + 64, ... and adds them in that order.
constexpr int BlockLanes = 32;
/// Lanes of XXH3: one 64-bit accumulator each.
constexpr int HashLanes = 8;
/// Bytes of a leaf of a fingerprint.
constexpr std::uint64_t HashLeafBytes = 65536;

} // namespace forkpoint::kernels
