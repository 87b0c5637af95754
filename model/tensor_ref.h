// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/dtype.h"
#include "model/error.h"
#include "model/key_path.h"
#include "model/shape.h"
#include "model/state_class.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

using TensorIndex = std::size_t;
using FileIndex = std::uint32_t; ///< into the file table of the source that owns the tensor

using OwnerIndex = std::uint32_t; ///< into the owner table of the catalogue
constexpr OwnerIndex NoOwner = std::numeric_limits<OwnerIndex>::max();

enum class ByteOrder : std::uint8_t { Little, Big };

/// The rank that owns something, by the names its writer used: {"rank": 3}, {"tp": 1, "pp": 0}.
struct OwnerCoordinate
{
    std::vector<std::pair<std::string, std::int64_t>> axes;

    std::string toString() const; ///< "rank 3", "tp 1, pp 0"
    bool operator==(const OwnerCoordinate &) const = default;
    auto operator<=>(const OwnerCoordinate &) const = default;
};

/// Where some elements of a tensor are stored. A transform chain (deflate, zstd) is not part of an
/// extent: a compressed record is a file of the table whose bytes are the decoded ones.
struct Extent
{
    enum class Fills : std::uint8_t {
        Box,       ///< the box `box` of the logical tensor, addressed by strides
        FlatRange, ///< row-major logical elements [flatBegin, flatBegin + flatCount), contiguous
        FillValue, ///< the box `box`, every element being `fill`
    };
    Fills fills = Fills::Box;

    FileIndex file = 0;
    std::uint64_t offset = 0; ///< of the storage, in bytes of that file
    std::uint64_t length = 0; ///< bytes of the storage; nothing outside is ever read
    ByteOrder order = ByteOrder::Little;
    OwnerIndex owner = NoOwner; ///< whose part of the tensor this is

    Box box;                           ///< Box, FillValue
    std::vector<std::int64_t> strides; ///< Box: in elements, per dimension; 0 for expanded ones
    std::uint64_t firstElement = 0;    ///< Box: element of the storage that is box.origin
    std::uint64_t flatBegin = 0;       ///< FlatRange
    std::uint64_t flatCount = 0;       ///< FlatRange
    std::vector<std::byte> fill;       ///< FillValue: one element, little-endian

    bool operator==(const Extent &) const = default;
};

/// Another stored copy of the same logical tensor, which should be equal and may not be.
struct Replica
{
    OwnerIndex owner = NoOwner;
    std::vector<Extent> extents;
};

constexpr std::uint64_t NoStorage = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t NoOrder = std::numeric_limits<std::uint64_t>::max();

/// Where in a training step a tensor was recorded.
struct RecordedPlace
{
    std::string stage; ///< a word of model/traces/trace_stage.h
    std::optional<std::int64_t> microBatch, rank;

    auto operator<=>(const RecordedPlace &) const = default;
};

/// One tensor of a checkpoint: what it is and where its bytes are, never the bytes.
struct TensorRef
{
    KeyPath path;
    std::string name; ///< display name, unique in its catalogue
    StateClass stateClass = StateClass::Unknown;
    DType dtype;
    Shape shape;             ///< as torch gives it (packed for _x2)
    Index elements = 0;      ///< decoded elements: shape.count() * dtype.packing
    std::uint64_t bytes = 0; ///< of the logical row-major little-endian stream

    std::vector<Extent> extents;    ///< together they cover the logical tensor, unless unreadable
    std::vector<std::string> files; ///< relative to what was opened, in order, no repetition
    std::uint64_t storage = NoStorage; ///< equal for tensors that share one storage (tied)
    bool conjugate = false;            ///< the logical value is the conjugate of what is stored
    bool negate = false;               ///< the logical value is the negation of what is stored

    std::vector<Replica> replicas;
    OwnerIndex owner = NoOwner;       ///< of a rank-local tensor
    std::optional<Shape> globalShape; ///< of which this is one rank's part
    std::vector<Index> globalOrigin;  ///< where the part begins in it, where the file says so
    std::string partialSumGroup;      ///< not empty: the logical value is the sum over that group
    Index paddingElements = 0;        ///< trailing elements that are alignment, not data

    std::uint64_t fileOrder = 0;            ///< position in the file, for "file order" views
    std::uint64_t executionOrder = NoOrder; ///< position in a recorded execution order, if any
    /// Where in its step a tracer took it; nullptr for what no tracer wrote.
    std::shared_ptr<const RecordedPlace> recorded;
    std::string note;                ///< "rank-local part of [8, 4]", "stored as quint8"
    std::optional<Error> unreadable; ///< why the bytes cannot be had, wholly or in part
    /// False where only the name is known (its shard is missing): dtype and shape are placeholders
    /// that decide nothing. Unreadable then.
    bool layoutKnown = true;
};

/// Whether the logical stream is one run of bytes of one file, so that small reads cost nothing.
bool isContiguous(const TensorRef &tensor);

} // namespace forkpoint
