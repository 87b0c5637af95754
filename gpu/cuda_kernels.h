// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/device_work.h"

// What the device code offers to the host: launches that return at once. C++17, for both compilers.
// Each returns a cudaError_t as an integer; `stream` is a cudaStream_t.

namespace forkpoint::cuda {

int launchDiff(const kernels::PartType &type, const kernels::DiffWork &work, void *stream);
int launchLeaves(const kernels::LeafWork &work, void *stream);
/// Writes what kernels::probeArithmetic() finds to `faults`, in the device's memory.
int launchProbe(std::uint64_t *faults, void *stream);

} // namespace forkpoint::cuda
