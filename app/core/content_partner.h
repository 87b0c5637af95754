// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/element_reader.h"
#include "model/pairing.h"

#include <optional>

namespace forkpoint {

/// Whom a tensor meets by its contents, as a comparison of the whole pairs it (model/content_join.h):
/// the one unpaired tensor of the other side with its dtype, shape and bytes, where no other unpaired
/// tensor of either side has them. `row`: into pairing.tensors, of one side only. Reads the tensors
/// of that dtype and shape, each up to its first difference.
std::optional<TensorPairRef> partnerByContent(const std::shared_ptr<const TensorSource> &a,
                                              const std::shared_ptr<const TensorSource> &b,
                                              const Pairing &pairing, std::size_t row);

} // namespace forkpoint
