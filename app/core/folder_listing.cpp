// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/folder_listing.h"

#include "loaders/limits.h"

#include <algorithm>
#include <filesystem>

namespace forkpoint {

namespace fs = std::filesystem;

Result<FolderListing> listFolder(const std::string &path, std::stop_token stop)
{
    FolderListing listing;
    listing.path = path;
    std::error_code error;
    fs::directory_iterator entry(path, error);
    while (!error && entry != fs::directory_iterator() && !stop.stop_requested()) {
        if (listing.entries.size() == limits::DirectoryEntries) {
            listing.complete = false;
            break;
        }
        std::error_code gone; // an entry that cannot be looked at is listed all the same
        const bool isFolder = entry->is_directory(gone);
        const bool isFile = entry->is_regular_file(gone);
        const std::uintmax_t bytes = isFile ? entry->file_size(gone) : 0;
        listing.entries.push_back(
            {entry->path().filename().string(), isFolder, gone ? 0 : std::uint64_t(bytes)});
        entry.increment(error);
    }
    if (error)
        return Error{ErrorCode::Io, path, {}, "cannot be listed: " + error.message()};
    std::sort(listing.entries.begin(), listing.entries.end(),
              [](const FolderEntry &x, const FolderEntry &y) {
                  return x.isFolder != y.isFolder ? x.isFolder : x.name < y.name;
              });
    return listing;
}

} // namespace forkpoint
