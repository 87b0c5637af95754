// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/tensor_ref.h"

#include <optional>
#include <span>

namespace forkpoint {

/// The files behind a tensor and all that decides which of their bytes are its elements; nothing
/// where some bytes are of no file (arrays inside a pickle).
std::optional<TensorOrigin> originOf(const TensorRef &tensor,
                                     std::span<const std::shared_ptr<const ByteSource>> files);

} // namespace forkpoint
