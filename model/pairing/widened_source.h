// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_reader.h"

namespace forkpoint {

/// The pair as two tensors of one dtype: where they differ in it and one embeds in the other, the
/// narrow side is rewritten as the wider type while it is read, exactly (widenElements()); a side of
/// unnamed bytes takes the other's type. Any other pair is returned as it is.
TensorPairRef asOneType(TensorPairRef pair);

} // namespace forkpoint
