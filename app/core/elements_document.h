// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_reader.h"
#include "model/pairing/pairing.h"

#include <stop_token>
#include <string>

namespace forkpoint {

struct FoundElements;

struct MeetingTensors
{
    TensorPairRef pair;
    std::string saysNothing; ///< why their elements say nothing of the two runs; usually empty
};

/// The two tensors that meet under `name`: a logical name, or either side's own. Of a tensor of one
/// side only the error is ErrorCode::Mismatch, or ErrorCode::Unsupported where that is no difference.
Result<MeetingTensors> findPair(std::shared_ptr<const TensorSource> a,
                                std::shared_ptr<const TensorSource> b,
                                const PairingOptions &options, const std::string &name,
                                std::stop_token stop);

/// The document "forkpoint.elements/1", of elements that were found (`page` is there).
std::string elementsJson(const FoundElements &found);
std::string elementsText(const FoundElements &found);

} // namespace forkpoint
