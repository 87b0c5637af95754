// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_graph.h"
#include "loaders/torch/torch_storage.h"
#include "model/result.h"
#include "model/tensor_ref.h"

#include <span>

namespace forkpoint {

/// The arguments by which torch describes a strided tensor, in elements of its dtype.
struct StridedDescription
{
    NodeId offset = NoNode, size = NoNode, stride = NoNode;
    NodeId dtype = NoNode;    ///< a torch dtype, or NoNode: the storage's
    NodeId metadata = NoNode; ///< {"conj": True, "neg": True}, or NoNode
};

/// A tensor over `slot`: dtype, shape, extent, storage, note. What makes it unreadable is in
/// `unreadable`; its shape is [0] where the described one is impossible. `path` is the caller's.
TensorRef stridedTensor(const PickleGraph &graph, const StorageSlot &slot,
                        const StridedDescription &description);

/// "float32" of a Global torch.float32; empty where the node is none.
std::string torchDTypeName(const PickleGraph &graph, NodeId node);

} // namespace forkpoint
