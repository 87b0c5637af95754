// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"
#include "loaders/sharded/dcp_metadata.h"
#include "loaders/torch/pickle_tree.h"

namespace forkpoint {

/// Opens the objects of a distributed checkpoint, each in the range of a data file that the
/// metadata names, and lists them into one builder.
class DcpItems
{
public:
    DcpItems(const DirectoryView &view, const DcpMetadata &metadata, CheckpointBuilder &builder,
             std::stop_token stop);

    /// The piece of a tensor that is stored there, which must be of that type and shape: one extent
    /// over the stored shape, whose file and owner are the builder's. Of a checkpoint of more than
    /// limits::EagerPieces pieces the containers are looked at when they are read, and the name of the
    /// file is left to sourceOf().
    Result<TensorRef> shard(const DcpItem &item, const DType &dtype, const Shape &shape);
    /// Lists an object at `path`: what a torch.save holds, or bytes as such.
    Status object(const DcpItem &item, const KeyPath &path);

    /// Why a data file cannot be opened; said once.
    const std::optional<Error> &problemOf(std::uint32_t file);
    const std::string &nameOf(std::uint32_t file) const { return m_metadata.files[file]; }
    /// As errors name it: a data file without a problem.
    const std::string &sourceOf(std::uint32_t file) const { return m_files[file].source->name(); }

private:
    struct File
    {
        bool opened = false;
        std::shared_ptr<const ByteSource> source;
        FileIndex index = 0;
        OwnerIndex owner = NoOwner;
        std::optional<Error> problem;
    };
    File &file(std::uint32_t number);
    TensorRef laterShard(const DcpItem &item, const DType &dtype, const Shape &shape);

    const DirectoryView &m_view;
    const DcpMetadata &m_metadata;
    CheckpointBuilder &m_builder;
    std::stop_token m_stop;
    std::vector<File> m_files;
    bool m_isLarge = false;
    std::shared_ptr<TreeBudget> m_budget = std::make_shared<TreeBudget>();
};

} // namespace forkpoint
