// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_graph.h"
#include "model/dtype.h"
#include "model/result.h"
#include "model/tensor_ref.h"

#include <cstdint>
#include <optional>
#include <string>

namespace forkpoint {

/// What a torch storage class holds: "FloatStorage" float32; "UntypedStorage" bytes.
struct StorageClass
{
    std::string dtype;           ///< as torch spells it; "uint8" for an untyped storage
    std::uint64_t itemBytes = 1; ///< bytes of one of the elements that `numel` counts
};
std::optional<StorageClass> storageClass(const PickleGlobal &global);

/// The persistent id of a storage: ("storage", class, key, location, numel[, view]).
struct StorageId
{
    StorageClass held;
    std::string key;
    std::string location;    ///< "cpu", "cuda:3"
    std::uint64_t bytes = 0; ///< numel * itemBytes
    NodeId view = NoNode;    ///< legacy: (key, offset, numel) or NoNode
};
Result<StorageId> storageId(const PickleGraph &graph, NodeId persistentId);

/// Where the bytes of a storage are, or why they cannot be had.
struct StorageSlot
{
    StorageClass held;
    FileIndex file = 0;
    std::uint64_t offset = 0, length = 0;
    ByteOrder order = ByteOrder::Little;
    std::uint64_t identity = NoStorage;
    /// The writer left the bytes out (traced inputs of TorchScript): nothing is lost.
    bool leftOut = false;
    std::optional<Error> problem;
};

/// Finds what persistent ids of one pickle refer to; each container has its own.
class StorageTable
{
public:
    virtual ~StorageTable() = default;
    virtual StorageSlot slot(const PickleGraph &graph, NodeId persistentId) = 0;
    /// A whole tensor by its id (the tar of torch 0.1): nothing where ids mean storages.
    virtual std::optional<TensorRef> tensor(const PickleGraph &, NodeId) { return std::nullopt; }
};

} // namespace forkpoint
