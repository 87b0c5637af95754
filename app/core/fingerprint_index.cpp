// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fingerprint_index.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// What can be relied on, and pays off.
bool isIndexed(const std::optional<TensorOrigin> &origin)
{
    return origin && !origin->files.empty()
        && std::all_of(origin->files.begin(), origin->files.end(),
                       [](const auto &file) { return file->settled; })
        && std::any_of(origin->files.begin(), origin->files.end(), [](const auto &file) {
               return file->size >= FingerprintIndex::SmallestFile;
           });
}

} // namespace

std::optional<Digest128> FingerprintIndex::find(const TensorSource &source, TensorIndex tensor)
{
    if (!m_believe)
        return std::nullopt;
    const std::optional<TensorOrigin> origin = source.origin(tensor);
    if (!isIndexed(origin))
        return std::nullopt;
    const IndexEntry &entry = entryOf(origin->files.front());
    return entry.known.empty() ? std::nullopt : entry.find(indexKey(m_backend, *origin));
}

/// Empty where nothing is known of that state.
const IndexEntry &FingerprintIndex::entryOf(const FilePtr &file)
{
    const auto [place, isNew] = m_loaded.try_emplace(file);
    if (!isNew)
        return place->second;
    const std::string name = indexEntryName(m_backend, *file);
    std::optional<IndexEntry> stored = decodeIndexEntry(m_backend, m_folder.read(name));
    if (stored && stored->state.sameState(*file)) {
        place->second = std::move(*stored);
        m_folder.touch(name);
    }
    return place->second;
}

Diagnostics FingerprintIndex::learn(const TensorSource &source,
                                    const std::vector<std::pair<TensorIndex, Digest128>> &contents)
{
    Diagnostics news;
    // By file, so that each entry is written once.
    std::map<FilePtr, std::vector<IndexEntry::Known>> learnt;
    for (const auto &[tensor, content] : contents) {
        const std::optional<TensorOrigin> origin = source.origin(tensor);
        if (!isIndexed(origin))
            continue;
        const IndexEntry::Known known{indexKey(m_backend, *origin), content};
        const FilePtr &file = origin->files.front();
        const auto before = entryOf(file).find(known.key);
        if (before == content)
            continue;
        if (before) {
            news.push_back({Severity::Warning, "mismatch", file->path,
                            "tensor '" + source.catalog().tensors[tensor].name + "'",
                            "the fingerprint index had another digest of this state of the file; "
                            "what was read now stands"});
        }
        learnt[file].push_back(known);
    }
    for (auto &[file, known] : learnt) {
        IndexEntry entry = entryOf(file);
        entry.state = *file;
        entry.known.insert(entry.known.end(), known.begin(), known.end());
        entry.sort();
        m_folder.write(indexEntryName(m_backend, *file), encodeIndexEntry(m_backend, entry));
    }
    if (!learnt.empty())
        m_folder.trim();
    m_loaded.clear();
    return news;
}

std::shared_ptr<KnownDigests> userIndex(bool use, bool believe, const ComputeBackend &backend)
{
    const auto directory = use ? indexDirectory() : std::nullopt;
    if (!directory)
        return nullptr;
    return std::make_shared<FingerprintIndex>(IndexFolder(*directory), backend, believe);
}

} // namespace forkpoint
