// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace forkpoint {

// Made-up data, and how fast a backend is with it.

enum class MadeUp {
    Equal,
    Near,  ///< all elements differ, in their lowest bits
    Few,   ///< one of 300 does
    Random ///< all bits at random, NaN and infinity among them
};

struct MadeUpPair
{
    std::vector<std::byte> a, b;
};

/// Bytes at random; unless they are to be random, with small exponents of either sign, so that
/// numbers of most types are finite. Whole bytes: `elements` fills them.
MadeUpPair makeUp(const DType &dtype, Index elements, MadeUp kind, std::uint64_t seed);

/// Bytes of both sides that so many threads compare a second, with both fingerprints: from memory
/// that the backend lent, to a device and back.
double measureRate(const ComputeBackend &backend, std::size_t threads, const DType &dtype,
                   MadeUp kind);

} // namespace forkpoint
