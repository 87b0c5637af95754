// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/tensor_source.h"

#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// Read, at most, to see whether what is tied is equal.
inline constexpr std::uint64_t TiedBytes = std::uint64_t(512) << 20;

/// What a comparison has found of a side's tensors.
struct KnownTensors
{
    std::map<TensorIndex, Digest128> contents; ///< over the logical bytes, as in fingerprint.h
    std::set<TensorIndex> unread;              ///< decided by the index; not to be read here either
};

/// Where a checkpoint says that the head is the embedding (Hugging Face's tie_word_embeddings,
/// Megatron's untie_embeddings_and_output_weights) and stores both, as pipeline stages do: a finding,
/// "tied-tensors-differ", if their bits are not the same, or a note, "tied-tensors-unread", why
/// nobody knows: too large to be read here (`budget`: bytes of both), left unread, or not readable.
/// What is `known` to be equal is not read. By each tensor-parallel rank where ranks hold their parts.
std::vector<Finding> tiedFindings(const TensorSource &source, std::uint64_t budget,
                                  std::stop_token stop, const KnownTensors &known = {});

} // namespace forkpoint
