// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/index_entry.h"
#include "app/core/index_folder.h"
#include "model/compare/known_digests.h"

#include <map>
#include <memory>

namespace forkpoint {

/// The fingerprints of what was read before, in the user's cache directory. A tensor is known as
/// long as each of its files has the device, inode, size, modified and changed time (nanoseconds)
/// that it had then, and every file had been left alone for 2 s when it was opened. Files below
/// SmallestFile are read sooner than they are looked up. An index that cannot be read or written
/// is as good as none: nothing is reported, and everything is read.
class FingerprintIndex final : public KnownDigests
{
public:
    static constexpr std::uint64_t SmallestFile = 1u << 20;

    /// With `believe` false nothing is found, but what is read is remembered all the same.
    FingerprintIndex(IndexFolder folder, const ComputeBackend &backend, bool believe)
        : m_folder(std::move(folder)),
          m_backend(backend),
          m_believe(believe)
    {
    }

    std::optional<Digest128> find(const TensorSource &source, TensorIndex tensor) override;
    Diagnostics learn(const TensorSource &source,
                      const std::vector<std::pair<TensorIndex, Digest128>> &contents) override;

private:
    using FilePtr = std::shared_ptr<const FileState>;

    const IndexEntry &entryOf(const FilePtr &file);

    IndexFolder m_folder;
    const ComputeBackend &m_backend;
    bool m_believe;
    std::map<FilePtr, IndexEntry> m_loaded; ///< of the files at hand
};

/// The user's index; null where `use` is false or there is no cache directory to be had.
std::shared_ptr<KnownDigests> userIndex(bool use, bool believe, const ComputeBackend &backend);

} // namespace forkpoint
