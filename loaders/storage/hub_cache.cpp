// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/hub_cache.h"

#include <system_error>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// Folders below a snapshot: pipelines keep their parts one level down.
constexpr int SnapshotDepth = 4;

struct Snapshot
{
    fs::path repository;
    int depth = 0; ///< of the folder inside its snapshot
};

std::optional<Snapshot> snapshotOf(const fs::path &folder)
{
    fs::path revision = folder;
    for (int depth = 0; depth <= SnapshotDepth && revision.has_relative_path(); ++depth) {
        if (revision.parent_path().filename() == "snapshots")
            return Snapshot{revision.parent_path().parent_path(), depth};
        revision = revision.parent_path();
    }
    return std::nullopt;
}

} // namespace

std::optional<HubBlob> hubBlobOf(const fs::path &directory, const std::string &relative)
{
    std::error_code failed;
    const fs::path folder = fs::canonical((directory / relative).parent_path(), failed);
    if (failed)
        return std::nullopt;
    const auto snapshot = snapshotOf(folder);
    if (!snapshot)
        return std::nullopt;
    const std::string target =
        fs::read_symlink(folder / fs::path(relative).filename(), failed).string();
    std::string expected = "../../";
    for (int level = 0; level < snapshot->depth; ++level)
        expected += "../";
    expected += "blobs/";
    if (failed || !target.starts_with(expected))
        return std::nullopt;
    const std::string blob = target.substr(expected.size());
    if (blob.empty() || blob == "." || blob == ".." || blob.find('/') != std::string::npos)
        return std::nullopt;
    return HubBlob{snapshot->repository, "blobs/" + blob};
}

} // namespace forkpoint
