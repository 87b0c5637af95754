// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"

#include <string>
#include <vector>

namespace forkpoint {

/// Whether two results are the same to the last bit, in every figure.
bool sameBits(const DiffStats &a, const DiffStats &b);

/// What a backend says of made-up tensors of every type against the definition in gpu/kernels: data
/// that are equal, near, few differences, random bits with NaN and infinity. `deep` takes more sizes.
/// One line for each type and kind of data that disagrees.
struct ParityReport
{
    std::size_t passed = 0;
    std::vector<std::string> failures;
};
ParityReport checkParity(const ComputeBackend &backend, bool deep);

/// Rates on this machine, one line each: "float32, all differ: 4.31 GB/s". Bytes of both sides, in
/// memory, to a device and back where there is one; one thread, then all of them. Takes some seconds.
std::vector<std::string> measureRates(const ComputeBackend &backend);

} // namespace forkpoint
