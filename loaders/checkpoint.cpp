// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/checkpoint.h"

#include "loaders/elements/copies_read.h"
#include "loaders/elements/extent_origin.h"
#include "loaders/elements/extent_reader.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace forkpoint {

namespace {

KeyPath joined(const KeyPath &prefix, const KeyPath &path)
{
    KeyPath result = prefix;
    result.keys.insert(result.keys.end(), path.keys.begin(), path.keys.end());
    return result;
}

/// New numbers for the files and owners of a part that joins a larger catalogue.
struct Renumbering
{
    FileIndex firstFile = 0;
    std::vector<OwnerIndex> owners;

    void apply(OwnerIndex &owner) const
    {
        if (owner != NoOwner)
            owner = owners[owner];
    }
    void apply(std::vector<Extent> &extents) const
    {
        for (Extent &extent : extents) {
            extent.file += firstFile;
            apply(extent.owner);
        }
    }
    void apply(TensorRef &tensor) const
    {
        apply(tensor.extents);
        apply(tensor.owner);
        for (Replica &replica : tensor.replicas) {
            apply(replica.extents);
            apply(replica.owner);
        }
    }
};

template <class T>
void append(std::vector<T> &to, std::vector<T> &&from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

} // namespace

Status Checkpoint::read(TensorIndex tensor, std::uint64_t firstByte, MutableByteView out) const
{
    if (tensor >= m_catalog.tensors.size())
        return Error{ErrorCode::Usage, {}, {}, "there is no tensor of that number"};
    const TensorRef &ref = m_catalog.tensors[tensor];
    if (ref.unreadable)
        return *ref.unreadable;
    FP_CHECK(readExtents(ref, m_files, firstByte, out));
    const auto copies = m_copies.find(tensor);
    return copies == m_copies.end() ? Status()
                                    : compareCopies(copies->second, m_files, firstByte, out);
}

void Checkpoint::willRead(TensorIndex tensor, std::uint64_t firstByte, std::uint64_t size) const
{
    if (tensor >= m_catalog.tensors.size() || m_catalog.tensors[tensor].unreadable)
        return;
    const TensorRef &ref = m_catalog.tensors[tensor];
    if (!isContiguous(ref)) // reads through strides visit their range many times
        return;
    const Extent &extent = ref.extents.front();
    const std::uint64_t skipped = extent.firstElement * ref.dtype.positionBits() / 8;
    m_files[extent.file]->willRead(extent.offset + skipped + firstByte, size);
}

Status Checkpoint::unchanged() const
{
    for (const auto &file : m_files)
        FP_CHECK(file->unchanged());
    return {};
}

Status Checkpoint::holdersUnchanged(TensorIndex tensor) const
{
    std::set<FileIndex> holders;
    const auto add = [&](const TensorRef &ref) {
        for (const Extent &extent : ref.extents)
            if (extent.fills != Extent::Fills::FillValue && extent.file < m_files.size())
                holders.insert(extent.file);
    };
    if (tensor < m_catalog.tensors.size())
        add(m_catalog.tensors[tensor]);
    if (const auto copies = m_copies.find(tensor); copies != m_copies.end())
        std::ranges::for_each(copies->second, add);
    for (const FileIndex file : holders)
        FP_CHECK(m_files[file]->unchanged());
    return {};
}

std::vector<std::shared_ptr<const FileState>> Checkpoint::fileStates() const
{
    std::vector<std::shared_ptr<const FileState>> states;
    for (const auto &file : m_files)
        if (const std::optional<ByteOrigin> origin = file->origin(); origin && origin->file)
            states.push_back(origin->file);
    // Members of an archive share its state.
    std::ranges::sort(states);
    states.erase(std::unique(states.begin(), states.end()), states.end());
    std::ranges::sort(states, {}, [](const auto &state) { return state->path; });
    return states;
}

std::optional<TensorOrigin> Checkpoint::origin(TensorIndex tensor) const
{
    if (tensor >= m_catalog.tensors.size() || m_catalog.tensors[tensor].unreadable)
        return std::nullopt;
    if (m_copies.contains(tensor)) // a digest known of one copy's bytes says nothing of the others
        return std::nullopt;
    return originOf(m_catalog.tensors[tensor], m_files);
}

FileIndex CheckpointBuilder::addFile(std::shared_ptr<const ByteSource> source)
{
    m_files.push_back(std::move(source));
    return FileIndex(m_files.size() - 1);
}

OwnerIndex CheckpointBuilder::addOwner(OwnerCoordinate owner)
{
    const auto [known, isNew] = m_owners.try_emplace(owner, OwnerIndex(m_catalog.owners.size()));
    if (isNew)
        m_catalog.owners.push_back(std::move(owner));
    return known->second;
}

void CheckpointBuilder::expectTensors(std::size_t count)
{
    // At least twice as many as there were: many small files must not each move everything.
    auto &tensors = m_catalog.tensors;
    if (tensors.size() + count > tensors.capacity())
        tensors.reserve(std::max(tensors.size() + count, 2 * tensors.capacity()));
}

void CheckpointBuilder::addTensor(TensorRef tensor)
{
    tensor.fileOrder = m_catalog.tensors.size();
    m_catalog.tensors.push_back(std::move(tensor));
}

void CheckpointBuilder::addUnreadable(TensorRef tensor, Error error)
{
    const std::string name = tensor.path.keys.empty() ? tensor.name : tensor.path.toString();
    tensor.unreadable = std::move(error).atPlace("tensor '" + escapeInvalidUtf8(name) + "'");
    if (!tensor.files.empty() && tensor.unreadable->file.empty())
        tensor.unreadable->file = tensor.files.front();
    addDiagnostic(*tensor.unreadable, Severity::Error);
    addTensor(std::move(tensor));
}

void CheckpointBuilder::addValue(ValueRef value)
{
    m_catalog.values.push_back(std::move(value));
}

void CheckpointBuilder::addDiagnostic(Diagnostic diagnostic)
{
    m_catalog.diagnostics.push_back(std::move(diagnostic));
}

void CheckpointBuilder::addDiagnostic(const Error &error, Severity severity)
{
    addDiagnostic(toDiagnostic(error, severity));
}

void CheckpointBuilder::addFinding(Finding finding)
{
    m_catalog.findings.push_back(std::move(finding));
}

void CheckpointBuilder::merge(CheckpointBuilder part, const KeyPath &prefix)
{
    Renumbering renumbering{FileIndex(m_files.size()), {}};
    for (OwnerCoordinate &owner : part.m_catalog.owners)
        renumbering.owners.push_back(addOwner(std::move(owner)));
    append(m_files, std::move(part.m_files));
    for (TensorRef &tensor : part.m_catalog.tensors) {
        if (!prefix.keys.empty())
            tensor.path = joined(prefix, tensor.path);
        renumbering.apply(tensor);
        if (tensor.storage != NoStorage)
            tensor.storage += m_nextStorage;
        addTensor(std::move(tensor));
    }
    m_nextStorage += part.m_nextStorage;
    for (ValueRef &value : part.m_catalog.values) {
        value.path = joined(prefix, value.path);
        addValue(std::move(value));
    }
    append(m_catalog.diagnostics, std::move(part.m_catalog.diagnostics));
    append(m_catalog.findings, std::move(part.m_catalog.findings));
    for (const KeyPath &path : part.m_copiesToCompare)
        compareCopiesOf(joined(prefix, path));
    m_catalog.complete = m_catalog.complete && part.m_catalog.complete;
}

std::shared_ptr<const Checkpoint> CheckpointBuilder::build(std::string format)
{
    m_catalog.format = std::move(format);
    for (const auto &file : m_files)
        m_catalog.files.push_back(file->name());
    m_catalog.finish(StateClassRules::builtin());
    checkExtents();
    auto copies = copiesToCompare();
    return std::shared_ptr<const Checkpoint>(
        new Checkpoint(std::move(m_catalog), std::move(m_files), std::move(copies)));
}

void CheckpointBuilder::setUnreadable(TensorRef &tensor, Error error)
{
    error = std::move(error).atPlace("tensor '" + tensor.name + "'");
    if (!tensor.files.empty() && error.file.empty())
        error.file = tensor.files.front();
    addDiagnostic(error, Severity::Error);
    tensor.unreadable = std::move(error);
}

/// The one place where every extent is checked, whichever loader made it.
void CheckpointBuilder::checkExtents()
{
    for (TensorRef &tensor : m_catalog.tensors) {
        if (tensor.unreadable)
            continue;
        Status status = validateExtents(tensor, m_files);
        if (!status.ok())
            setUnreadable(tensor, std::move(status).error());
    }
}

Checkpoint::Copies CheckpointBuilder::copiesToCompare()
{
    Checkpoint::Copies result;
    for (TensorIndex i = 0; i < m_catalog.tensors.size() && !m_copiesToCompare.empty(); ++i) {
        TensorRef &tensor = m_catalog.tensors[i];
        if (tensor.unreadable || !m_copiesToCompare.contains(tensor.path))
            continue;
        auto copies = furtherCopies(tensor);
        Status status = copies.empty()
            ? Status(Error{ErrorCode::Unsupported, {}, {}, "where its copies lie cannot be told"})
            : Status();
        for (const TensorRef &copy : copies) {
            if (status.ok())
                status = validateExtents(copy, m_files);
        }
        if (status.ok())
            result.emplace(i, std::move(copies));
        else
            setUnreadable(tensor, std::move(status).error());
    }
    return result;
}

} // namespace forkpoint
