// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"
#include "model/tensor_ref.h"

#include <optional>
#include <span>

namespace forkpoint {

/// Bytes of `count` positions of `bits` each, where that is a whole number below 2^64.
std::optional<std::uint64_t> bytesOf(Index count, std::uint64_t bits);

bool isEmpty(const Box &box);
/// Elements of a box that lies inside a shape whose count() exists.
Index volume(const Box &box);
std::optional<Box> intersection(const Box &a, const Box &b);

/// The row-major elements [first, first + count) of `shape` as at most 2 * rank + 1 boxes, in order.
std::vector<Box> boxesOfRange(const Shape &shape, Index first, Index count);

/// Whether a Box extent holds the whole tensor as row-major contiguous elements.
bool isWhole(const Extent &extent, const Shape &shape);

/// The same place, addressed in bytes: dimensions get one more of `bits / 8` bytes; a contiguous
/// extent of elements narrower than a byte becomes a flat range of bytes.
Extent extentOfBytes(const Extent &extent, std::uint64_t bits);

/// Whether the extents, each of which lies inside the shape, cover it exactly once.
Status checkCover(std::span<const Extent> extents, const Shape &shape);

} // namespace forkpoint
