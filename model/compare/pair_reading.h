// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"
#include "model/digest.h"
#include "model/result.h"
#include "model/tensor_source.h"
#include "model/tolerance.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// One tensor of one side.
struct SourcedTensor
{
    const TensorSource *source = nullptr;
    TensorIndex index = 0;

    const TensorRef &ref() const { return source->catalog().tensors[index]; }
};

/// The one or two tensors of a row. With two, they are read side by side.
struct PairOfTensors
{
    std::optional<SourcedTensor> a, b;
};

/// A range of the logical stream: begins at a multiple of LeafBytes.
struct ByteRange
{
    std::uint64_t first = 0;
    std::uint64_t size = 0;
};

struct LeafReading
{
    std::vector<Digest128> leavesA, leavesB; ///< empty where that side is absent or not wanted
    bool differs = false;                    ///< some byte of the range differs
    std::optional<Error> errorA, errorB;     ///< the range could not be read
};

/// Reads a range of one side, or of both sides of equal length, in bounded memory: leaf digests and
/// byte equality.
LeafReading readLeaves(const PairOfTensors &pair, ByteRange range, const ComputeBackend &backend,
                       bool wantDigests, std::stop_token stop);

/// How two tensors of different dtype are compared as one: both are read as `wide`.
struct MeasuredAs
{
    DType dtype; ///< of the statistics
    bool widenA = false, widenB = false;
};

/// Whether a unit is measured while it is read.
enum class MeasureWhen {
    Never,
    IfDifferent, ///< a unit that is equal to its last byte is not
    Always,
};

/// Elements [first, first + count) of a pair: `first` is a multiple of unitLength(), and so is
/// `count`, except at the tensor's end.
struct UnitRequest
{
    Index first = 0, count = 0;
    bool digests = true;
    MeasureWhen measuring = MeasureWhen::IfDifferent;
    bool firstDifferenceEnds = false; ///< nothing of what follows it is read
    DiffOptions diff;
};

struct UnitReading : LeafReading
{
    std::optional<DiffStats> stats; ///< as `measuring` asked for
};

/// Elements of one unit of reading: about 4 MiB of the wider side, whole leaves of both sides, a
/// power of two of blocks. Not for opaque types, whose elements may be of any size.
Index unitLength(const MeasuredAs &as);

/// Reads a unit of both sides once: byte equality, leaf digests, statistics. Only what is equal
/// before the first difference of a unit that need not have been measured is read again, from A.
UnitReading readUnit(const PairOfTensors &pair, const MeasuredAs &as, const UnitRequest &request,
                     const ComputeBackend &backend, std::stop_token stop);

/// Statistics of elements [first, first + count) of a pair, or of A with itself where B is absent; first is a multiple of BlockParts.
Result<DiffStats> measure(const PairOfTensors &pair, const MeasuredAs &as, Index first, Index count,
                          const DiffOptions &options, const ComputeBackend &backend,
                          std::stop_token stop);

} // namespace forkpoint
