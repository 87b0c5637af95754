// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace forkpoint {

/// Two tensors of records that met, of one layout and of unlike content, of which both traces keep
/// the digests of leaves and not both the elements.
struct LeafPair
{
    bool isInput = false;
    std::string path;         ///< of the observation
    std::uint64_t bits = 0;   ///< of an element
    std::uint64_t number = 0; ///< of elements
    TracePlace placeA, placeB;
    LeafRows a, b; ///< of as many rows
};

/// Where the first difference of two tensors lies, as far as the digests of leaves tell. Elements count
/// in row-major order; those at the bounds may lie in two leaves.
struct LeafDifference
{
    bool isInput = false;
    std::string path;
    std::uint64_t leaf = 0;                          ///< the first that differs, from 0
    std::uint64_t different = 0, leaves = 0;         ///< that differ, of all
    std::uint64_t firstElement = 0, lastElement = 0; ///< of that leaf, both included
    std::uint64_t elements = 0;                      ///< of the tensor

    bool operator==(const LeafDifference &) const = default;
};

/// Of two records that met: the pairs of tensors whose difference can be placed, a few at most.
std::vector<LeafPair> leafPairs(const TraceRecord &a, const TraceRecord &b);

/// Reads the digests of these from the traces. Malformed where all digests of leaves are equal: they
/// contradict those of the tensors.
Result<std::vector<LeafDifference>> locateLeaves(const Trace &a, const Trace &b,
                                                 const std::vector<LeafPair> &pairs,
                                                 const std::function<bool()> &stopped);

/// "the first difference of output '0' is among elements 16,384 to 32,767 of 40,000 (1 of 3 leaves
/// differs)"
std::string leafWords(const LeafDifference &difference);

} // namespace forkpoint
