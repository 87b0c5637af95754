// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"

#include <map>
#include <string>
#include <vector>

namespace forkpoint {

/// Elements of parameters as ranks hold them, by the type of the parameters; in no order.
using ParameterSizes = std::map<std::string, std::vector<Index>, std::less<>>;

/// What the weights of a checkpoint of Megatron-Core take up on the ranks of one group each. From
/// folders mp_rank_XX_YYY: by the number of the group, as a distributed optimizer's buffers have it
/// (tensor-parallel rank + pipeline stage x tensor-parallel ranks). From torch_dist, whose chunks say
/// how a weight is cut but not which group holds it: all groups together, under "". There a chunk of
/// a whole layer's weight is held by every tensor-parallel rank (args.tensor_model_parallel_size),
/// any other by one, and gates and ups of one rank, two chunks, are one parameter.
/// Empty where the chunks of a weight do not tell it.
std::map<std::string, ParameterSizes> parameterSizes(const Catalog &catalog);

} // namespace forkpoint
