// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/element_reader.h"
#include "model/pairing.h"

#include <string>

namespace forkpoint {

/// The two tensors that meet under `name`: a logical name, or either side's own.
Result<TensorPairRef> findPair(std::shared_ptr<const TensorSource> a,
                               std::shared_ptr<const TensorSource> b, const PairingOptions &options,
                               const std::string &name);

/// The document "forkpoint.elements/1".
std::string elementsJson(const TensorPairRef &pair, const ElementPage &page);
std::string elementsText(const TensorPairRef &pair, const ElementPage &page);

} // namespace forkpoint
