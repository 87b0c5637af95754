// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"
#include "model/digest.h"
#include "model/tensor_ref.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forkpoint {

/// Fingerprint version 1; resources/docs/fingerprint.md specifies every byte.
constexpr std::uint32_t FingerprintVersion = 1;
constexpr std::size_t FingerprintFanOut = 256;

struct TensorFingerprint
{
    Digest128 content; ///< top node over the logical bytes alone
    Digest128 tensor;  ///< header (version, dtype, shape, byte count), then content

    bool operator==(const TensorFingerprint &) const = default;
};

/// Folds leaf digests, pushed in order, into the top node. Memory: fan-out digests a level.
class FingerprintTree
{
public:
    explicit FingerprintTree(const ComputeBackend &backend) : m_backend(backend) {}

    /// Keeps the nodes of a level (0: the leaves) for takeKept(). Call it before the first leaf.
    void keep(std::size_t level) { m_keptLevel = level; }
    /// After finish(): the nodes of that level in order; none where it had fewer than two.
    std::vector<Digest128> takeKept();

    void push(const Digest128 &leaf);
    /// The top node; of no leaf at all: the digest of the empty string.
    Digest128 finish();

private:
    void pushAt(std::size_t level, const Digest128 &digest);

    const ComputeBackend &m_backend;
    std::vector<std::vector<Digest128>> m_levels;
    std::uint64_t m_leaves = 0;
    std::optional<std::size_t> m_keptLevel;
    std::vector<Digest128> m_kept;
};

/// The nodes of level + 1 over those of `level`, in order.
std::vector<Digest128> foldNodes(const ComputeBackend &backend, std::size_t level,
                                 std::span<const Digest128> nodes);

/// The content digest of a logical stream that comes in pieces of any size, in order.
class TensorHasher
{
public:
    explicit TensorHasher(const ComputeBackend &backend);

    void add(ByteView bytes);
    /// The content digest; the hasher is empty again afterwards.
    Digest128 finish();

private:
    const ComputeBackend &m_backend;
    FingerprintTree m_tree;
    std::vector<std::byte> m_partial; ///< the begun leaf, below LeafBytes
};

/// The `tensor` digest of a content digest.
Digest128 tensorDigest(const ComputeBackend &backend, const TensorRef &tensor,
                       const Digest128 &content);

struct CheckpointFingerprint
{
    Digest128 named;    ///< over (name, tensor digest), sorted by name
    Digest128 contents; ///< over the sorted tensor digests: the multiset, without names
};

CheckpointFingerprint
checkpointFingerprint(const ComputeBackend &backend,
                      std::vector<std::pair<std::string, TensorFingerprint>> tensors);

} // namespace forkpoint
