// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a whole the pickles of torch's distributed tensors hold. Source:
// torch/distributed/tensor/_utils.py, torch/distributed/_shard/metadata.py.
#pragma once

#include "loaders/torch/pickle_graph.h"
#include "model/shape.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// One rank's part of a tensor.
struct DistributedPart
{
    Shape global;
    std::vector<Index> origin; ///< empty where the file does not tell it
    std::optional<std::int64_t> rank;
    std::string partialSum; ///< not empty: the whole is the sum over this group
};

/// Of a DTensor's _spec (mesh, placements) and the shape of the whole; `local` is the shape that
/// the rank holds, which must be what the placements say.
DistributedPart partOfSpec(const PickleGraph &graph, NodeId spec, const Shape &global,
                           const Shape &local);

/// Of a Shard of a ShardedTensor: its metadata has offsets and the rank.
DistributedPart partOfShard(const PickleGraph &graph, NodeId shard, const Shape &global);

/// A member of an object's state, be it a dictionary or a pair of None and a dictionary of slots.
NodeId stateMember(const PickleGraph &graph, NodeId object, std::string_view name);

} // namespace forkpoint
