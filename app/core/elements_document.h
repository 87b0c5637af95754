// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/element_reader.h"
#include "model/pairing.h"

#include <string>

namespace forkpoint {

struct FoundElements;

/// The two tensors that meet under `name`: a logical name, or either side's own.
Result<TensorPairRef> findPair(std::shared_ptr<const TensorSource> a,
                               std::shared_ptr<const TensorSource> b, const PairingOptions &options,
                               const std::string &name);

/// The document "forkpoint.elements/1", of elements that were found (`page` is there).
std::string elementsJson(const FoundElements &found);
std::string elementsText(const FoundElements &found);

} // namespace forkpoint
