// SPDX-License-Identifier: GPL-3.0-or-later
// The cache of huggingface_hub: models--ORG--NAME/snapshots/REVISION/FILE is a symbolic link to
// models--ORG--NAME/blobs/HASH. Source: huggingface_hub's guide "Understand caching".
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace forkpoint {

struct HubBlob
{
    std::filesystem::path repository; ///< the folder that holds "snapshots" and "blobs"
    std::string relative;             ///< "blobs/HASH", relative to it
};

/// Where the link `relative` of a snapshot leads, or nothing. Only a link whose text is exactly as
/// many ".." as lead to the folder beside "snapshots", then "blobs" and one plain name: no other
/// link is followed out of a directory.
std::optional<HubBlob> hubBlobOf(const std::filesystem::path &directory,
                                 const std::string &relative);

} // namespace forkpoint
