// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pairing/pairing.h"
#include "model/tensor_source.h"

#include <memory>

namespace forkpoint {

/// Two checkpoints seen so that their tensors can meet.
struct LogicalSides
{
    std::shared_ptr<const TensorSource> a, b; ///< null where they were
};

/// A side that lists what each model-parallel rank holds gets whole tensors, unless the other was
/// written by the same ranks (withWholeTensors()), and the other side's names for what both hold
/// (model/pairing/megatron_names.h); layers stacked in one tensor ("decoder.layers.x")
/// become one tensor each where the other side has them so. Everything else stays as it is. Two equal
/// calls give equal catalogues: an index into one is one into the other. Nothing is read.
/// Strict and raw pairing leave both sides untouched.
LogicalSides logicalSides(std::shared_ptr<const TensorSource> a,
                          std::shared_ptr<const TensorSource> b, const PairingOptions &options);

/// Pairs one of whose tensors was put together say so, and by which rule.
void tellAssembled(std::vector<TensorPair> &pairs, const TensorSource &a, const TensorSource &b);

} // namespace forkpoint
