// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forkpoint {

struct FolderEntry
{
    std::string name;        ///< raw bytes, without the folder
    bool isFolder = false;   ///< links followed
    std::uint64_t bytes = 0; ///< of a file
};

/// What a person chooses from.
struct FolderListing
{
    std::string path; ///< as it was asked for
    /// Folders first, each sorted by name, bytewise; without "." and "..".
    std::vector<FolderEntry> entries;
    bool complete = true; ///< false: there are more than are listed
};

} // namespace forkpoint
