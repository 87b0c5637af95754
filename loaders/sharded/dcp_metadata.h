// SPDX-License-Identifier: GPL-3.0-or-later
// The .metadata of a PyTorch distributed checkpoint: which tensors there are, how they are cut, and
// where each piece is stored. Source: torch/distributed/checkpoint/metadata.py and filesystem.py;
// resources/docs/formats/dcp.md says what is read.
#pragma once

#include "loaders/torch/pickle_graph.h"
#include "model/diagnostic.h"
#include "model/key_path.h"
#include "model/result.h"
#include "model/shape.h"
#include "model/value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forkpoint {

/// A range of a data file that holds one object, encoded by `transforms` in turn.
struct DcpItem
{
    std::uint32_t file = 0; ///< into DcpMetadata::files
    std::uint64_t offset = 0, length = 0;
    std::vector<std::string> transforms; ///< "stream.zstd/1"
};

struct DcpTensor
{
    std::string fqn;
    KeyPath path;
    std::string dtype; ///< as torch spells it; empty where it is not named
    Shape shape;
    std::vector<std::optional<DcpItem>> chunks; ///< nothing: it is stored nowhere
    /// Of each chunk its offsets, then its sizes, which lie inside the shape: all in one allocation,
    /// as there may be a million.
    std::vector<Index> boxes;
    /// Megatron's optimizer states before 2026 are stored as [X/x, Y/y, Z/z, x*y*z]: the shape they
    /// were made of.
    std::optional<Shape> unflattened;

    std::span<const Index> offsets(std::size_t chunk) const { return box(2 * chunk); }
    std::span<const Index> sizes(std::size_t chunk) const { return box(2 * chunk + 1); }

private:
    std::span<const Index> box(std::size_t half) const
    {
        return std::span(boxes).subspan(half * shape.rank(), shape.rank());
    }
};

struct DcpObject
{
    std::string fqn;
    KeyPath path;
    std::optional<DcpItem> item;
};

struct DcpMetadata
{
    std::vector<std::string> files; ///< relative paths as stored, unchecked
    std::vector<DcpTensor> tensors;
    std::vector<DcpObject> objects;
    std::vector<std::pair<std::string, Value>> facts; ///< version, save_id, ...
    Diagnostics diagnostics; ///< pieces that contradict their tensor, entries that name nothing
};

/// Reads the graph of a .metadata by the names of its classes; whatever else is in it is ignored.
Result<DcpMetadata> readDcpMetadata(const PickleGraph &graph, const std::string &file);

/// The rank in the name of a data file, "__3_0.distcp".
std::optional<std::int64_t> rankOfDcpFile(std::string_view name);

} // namespace forkpoint
