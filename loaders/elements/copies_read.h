// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/tensor_ref.h"

#include <memory>
#include <span>
#include <vector>

namespace forkpoint {

/// The smallest box that holds all of the extents; nothing where one of them is no box.
std::optional<Box> boxOf(const std::vector<Extent> &extents);
bool isInside(const Box &inner, const Box &outer);

/// The tensor as its ranks' further copies have it: the first of the result has of each part that is
/// held several times the second copy, and so on; a part that has no such copy is as in `tensor`.
/// Empty where the places of some copy cannot be told.
std::vector<TensorRef> furtherCopies(const TensorRef &tensor);

/// Whether all of `copies` have at `firstByte` what `bytes` are; the error tells of the first that has
/// not, or cannot be read. In bounded memory.
Status compareCopies(const std::vector<TensorRef> &copies,
                     std::span<const std::shared_ptr<const ByteSource>> files,
                     std::uint64_t firstByte, ByteView bytes);

} // namespace forkpoint
