// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/tensor_source.h"

#include <map>
#include <memory>
#include <set>
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
    Status holdersUnchanged(TensorIndex tensor) const override;
    std::vector<std::shared_ptr<const FileState>> fileStates() const override;
    std::optional<TensorOrigin> origin(TensorIndex tensor) const override;

private:
    friend class CheckpointBuilder;
    /// Of tensors whose copies are compared when they are read: the tensor as further ranks have it.
    using Copies = std::map<TensorIndex, std::vector<TensorRef>>;

    Checkpoint(Catalog catalog, std::vector<std::shared_ptr<const ByteSource>> files, Copies copies)
        : m_catalog(std::move(catalog)),
          m_files(std::move(files)),
          m_copies(std::move(copies))
    {
    }

    Catalog m_catalog;
    std::vector<std::shared_ptr<const ByteSource>> m_files;
    Copies m_copies;
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
    /// Whoever reads that tensor reads its replicas, too, and gets an error where they differ.
    void compareCopiesOf(KeyPath path) { m_copiesToCompare.insert(std::move(path)); }
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
    void checkExtents();
    void setUnreadable(TensorRef &tensor, Error error);
    Checkpoint::Copies copiesToCompare();

    Catalog m_catalog;
    std::vector<std::shared_ptr<const ByteSource>> m_files;
    std::set<KeyPath> m_copiesToCompare;
    std::map<OwnerCoordinate, OwnerIndex> m_owners;
    std::uint64_t m_nextStorage = 0;
};

} // namespace forkpoint
