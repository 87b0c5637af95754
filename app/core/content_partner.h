// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_reader.h"
#include "model/pairing/pairing.h"
#include "model/pairing/rank_states.h"

#include <cstdint>
#include <optional>
#include <stop_token>

namespace forkpoint {

/// Whom a tensor meets by its contents, as a comparison of the whole pairs it (model/pairing/content_join.h):
/// the one unpaired tensor of the other side with its dtype, shape and bytes, where no other unpaired
/// tensor of either side has them. State of ranks that says nothing (`ranks`, of the two catalogues)
/// is nobody's partner. `row`: into pairing.tensors, of one side only. Reads the tensors of that
/// dtype and shape, each up to its first difference; ErrorCode::Limit where that would be more than
/// `budget` bytes of both sides together, ErrorCode::Cancelled after a stop.
Result<std::optional<TensorPairRef>> partnerByContent(const std::shared_ptr<const TensorSource> &a,
                                                      const std::shared_ptr<const TensorSource> &b,
                                                      const Pairing &pairing, std::size_t row,
                                                      const RankStates &ranks, std::uint64_t budget,
                                                      std::stop_token stop);

} // namespace forkpoint
