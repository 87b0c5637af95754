// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/directory_loader.h"
#include "loaders/sharded/dcp_loader.h"
#include "loaders/sharded/deepspeed_loader.h"
#include "loaders/sharded/hf_shards_loader.h"
#include "loaders/sharded/megatron_legacy_loader.h"
#include "loaders/sharded/rank_files_loader.h"
#include "loaders/sharded/state_snapshot_loader.h"
#include "loaders/storage/file_source.h"

#include <algorithm>

namespace forkpoint {

namespace {

const DirectoryEntry *find(const DirectoryListing &listing, std::string_view name)
{
    const auto at = std::lower_bound(
        listing.entries.begin(), listing.entries.end(), name,
        [](const DirectoryEntry &entry, std::string_view wanted) { return entry.name < wanted; });
    return at != listing.entries.end() && at->name == name ? &*at : nullptr;
}

} // namespace

bool DirectoryView::hasFile(std::string_view name) const
{
    const DirectoryEntry *entry = find(listing, name);
    return entry && (entry->kind == EntryKind::File || entry->kind == EntryKind::LinkToFile);
}

bool DirectoryView::hasFolder(std::string_view name) const
{
    const DirectoryEntry *entry = find(listing, name);
    return entry && entry->kind == EntryKind::Directory;
}

Result<std::shared_ptr<const ByteSource>> DirectoryView::open(const std::string &relative) const
{
    FP_TRY(auto file,
           FileSource::openBeneath(directory, relative, prefix + escapeInvalidUtf8(relative)));
    return std::shared_ptr<const ByteSource>(std::move(file));
}

const std::vector<const DirectoryLoader *> &allDirectoryLoaders()
{
    static const std::vector<const DirectoryLoader *> loaders = {
        &dcpLoader(),       &hfShardsLoader(),      &megatronLegacyLoader(),
        &deepspeedLoader(), &stateSnapshotLoader(), &rankFilesLoader(),
    };
    return loaders;
}

const DirectoryLoader *claimDirectory(const DirectoryView &view, std::string &interrupted)
{
    for (const DirectoryLoader *loader : allDirectoryLoaders()) {
        DirectoryClaim claim = loader->claim(view);
        if (!claim.isMine)
            continue;
        interrupted = std::move(claim.interrupted);
        return loader;
    }
    return nullptr;
}

} // namespace forkpoint
