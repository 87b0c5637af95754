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

/// Statistics of elements [first, first + count) of a pair; first is a multiple of BlockParts.
Result<DiffStats> measure(const PairOfTensors &pair, const MeasuredAs &as, Index first, Index count,
                          const DiffOptions &options, const ComputeBackend &backend,
                          std::stop_token stop);

} // namespace forkpoint
