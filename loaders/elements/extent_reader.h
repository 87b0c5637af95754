// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/tensor_ref.h"

#include <memory>
#include <span>

namespace forkpoint {

/// Checks once what no reader may find out late: the extents lie inside their files, no element of
/// a box addresses bytes outside its storage (128-bit arithmetic), boxes lie inside the shape, do
/// not overlap and cover it. The error names what is wrong.
Status validateExtents(const TensorRef &tensor,
                       std::span<const std::shared_ptr<const ByteSource>> files);

/// Fills `out` with bytes of the logical stream of a validated tensor (see TensorSource::read):
/// shards, strides, byte order, conjugation and negation resolved. Memory beside `out` is bounded
/// by a constant.
Status readExtents(const TensorRef &tensor,
                   std::span<const std::shared_ptr<const ByteSource>> files,
                   std::uint64_t firstByte, MutableByteView out);

} // namespace forkpoint
