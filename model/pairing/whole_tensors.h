// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pairing/assembled_source.h"

#include <memory>

namespace forkpoint {

/// Whether a side lists what each model-parallel rank holds (Megatron-LM's mp_rank_XX_YYY_ZZZ).
bool listsModelParallelRanks(const Catalog &catalog);

/// That side with logical tensors in place of the ranks' parts: tensor-parallel parts put together
/// by resources/rules/rank_assembly.txt, layers of pipeline stages and experts of expert-parallel
/// ranks counted on, copies (which must be equal) taken once; weights, and optimizer state whose
/// parameter is clear. Values that every rank holds alike stand once. What does not fit together, or
/// lacks a rank, stays as its ranks hold it. Nothing is read here.
std::shared_ptr<const TensorSource> withWholeTensors(std::shared_ptr<const TensorSource> ranks);

} // namespace forkpoint
