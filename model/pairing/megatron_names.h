// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tensor_source.h"

#include <memory>

namespace forkpoint {

/// Mostly of a side that lists what each model-parallel rank holds (Megatron-LM's mp_rank_XX_YYY): what the
/// other side, a torch_dist of as many ranks, holds under a name of its own (generators, buffers of a
/// distributed optimizer; resources/rules/megatron_names.txt) stands under that name. Buffers are cut
/// into the other side's buckets where these are as long together, those in objects of torch_dist
/// too. Nothing is read.
std::shared_ptr<const TensorSource> withSharedNames(std::shared_ptr<const TensorSource> ranks,
                                                    const Catalog &other);

/// The same, of tensors put together (withWholeTensors()), for what torch_dist keeps of each layer
/// of a stack: "decoder.layers.3.x._extra_state" is "decoder.layers.x._extra_state/shard_3_N".
/// An empty extra state of which torch_dist has none is a note: nothing is lost with it.
std::shared_ptr<const TensorSource> withStackedStates(std::shared_ptr<const TensorSource> wholes,
                                                      const Catalog &other);

/// One step of all parameters (Megatron-Core's optimizer.state.common_step, written where all are
/// equal) as the step of each, where the other side keeps them so.
std::shared_ptr<const TensorSource> withStepsApart(std::shared_ptr<const TensorSource> source,
                                                   const Catalog &other);

} // namespace forkpoint
