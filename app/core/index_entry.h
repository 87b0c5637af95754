// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"
#include "model/tensor_origin.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What the fingerprint index keeps of one file: its state, and the content digests of tensors
/// whose first byte lies in it, by a key made of all their files' states and of their layout.
struct IndexEntry
{
    struct Known
    {
        Digest128 key, content;
    };

    FileState state;
    std::vector<Known> known; ///< sorted by key, each once

    std::optional<Digest128> find(const Digest128 &key) const;
    /// Sorts; of equal keys the later one stands.
    void sort();
};

/// The key of a tensor. All states must be settled.
Digest128 indexKey(const ComputeBackend &backend, const TensorOrigin &origin);
/// The name of a file's entry: a file that changed takes over the entry of what it was.
std::string indexEntryName(const ComputeBackend &backend, const FileState &state);

/// An entry as it lies in the cache, with a checksum at its end.
std::vector<std::byte> encodeIndexEntry(const ComputeBackend &backend, const IndexEntry &entry);
/// Nothing where a byte is not as it was written.
std::optional<IndexEntry> decodeIndexEntry(const ComputeBackend &backend, ByteView bytes);

} // namespace forkpoint
