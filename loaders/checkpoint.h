// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/tensor_source.h"

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace forkpoint {

/// The one TensorSource of every format whose tensors are extents of files: a catalogue and a table
/// of byte sources. Loaders fill a builder; reading is extent_reader's.
class Checkpoint final : public TensorSource
{
public:
    const Catalog &catalog() const override { return m_catalog; }
    Status read(TensorIndex tensor, std::uint64_t firstByte, MutableByteView out) const override;
    void willRead(TensorIndex tensor, std::uint64_t firstByte, std::uint64_t size) const override;
    Status unchanged() const override;
    std::optional<TensorOrigin> origin(TensorIndex tensor) const override;

private:
    friend class CheckpointBuilder;
    Checkpoint(Catalog catalog, std::vector<std::shared_ptr<const ByteSource>> files)
        : m_catalog(std::move(catalog)),
          m_files(std::move(files))
    {
    }

    Catalog m_catalog;
    std::vector<std::shared_ptr<const ByteSource>> m_files;
};

/// What a loader fills. Paths identify items; names, classes, counts and order are derived by
/// build(). Merging builders (a directory that is one checkpoint) renumbers files and storages.
class CheckpointBuilder
{
public:
    FileIndex addFile(std::shared_ptr<const ByteSource> source);
    const std::shared_ptr<const ByteSource> &file(FileIndex index) const { return m_files[index]; }
    std::size_t fileCount() const { return m_files.size(); }
    std::span<const std::shared_ptr<const ByteSource>> files() const { return m_files; }
    OwnerIndex addOwner(OwnerCoordinate owner); ///< the same index for equal ones
    /// So many more are to come: one of a million tensors is not to move all that are there.
    void expectTensors(std::size_t count);
    /// path, dtype, shape, extents (or unreadable), files; fileOrder is set here.
    void addTensor(TensorRef tensor);
    /// A tensor whose bytes cannot be had: listed with the reason, which also becomes an Error
    /// diagnostic; its place gets the tensor's name in front.
    void addUnreadable(TensorRef tensor, Error error);
    void addValue(ValueRef value);
    void addDiagnostic(Diagnostic diagnostic);
    void addDiagnostic(const Error &error, Severity severity);
    void addFinding(Finding finding);
    void setIncomplete() { m_catalog.complete = false; }
    std::uint64_t newStorage() { return m_nextStorage++; }

    const Catalog &catalog() const { return m_catalog; }
    Catalog &mutableCatalog() { return m_catalog; }

    /// Takes over everything `part` holds, its paths prefixed by `prefix` (may be empty).
    void merge(CheckpointBuilder part, const KeyPath &prefix);

    /// Finishes the catalogue and checks every extent; a tensor whose extents are unsound becomes
    /// unreadable, with an Error diagnostic. Leaves the builder empty.
    std::shared_ptr<const Checkpoint> build(std::string format);

private:
    Catalog m_catalog;
    std::vector<std::shared_ptr<const ByteSource>> m_files;
    std::map<OwnerCoordinate, OwnerIndex> m_owners;
    std::uint64_t m_nextStorage = 0;
};

} // namespace forkpoint
