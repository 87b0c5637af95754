// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "model/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace forkpoint {

enum class EntryKind : std::uint8_t {
    File,
    Directory,
    LinkToFile, ///< a symbolic link to a regular file inside the same directory (or a hub's blob)
    Link,       ///< any other symbolic link: to a directory, out of it, dangling, a loop
    Special,    ///< a FIFO, a socket, a device
};

struct DirectoryEntry
{
    std::string name; ///< raw bytes
    EntryKind kind = EntryKind::File;
};

struct DirectoryListing
{
    std::vector<DirectoryEntry> entries; ///< sorted by name, bytewise; without "." and ".."
    bool complete = true;                ///< false: over the cap, the rest was not looked at
};

/// Lists a directory without following a link and without opening anything in it.
/// `displayName` goes into errors: NotFound, Io, or Refused where it is no directory.
Result<DirectoryListing> listDirectory(const std::filesystem::path &directory,
                                       const std::string &displayName,
                                       std::size_t maxEntries = limits::DirectoryEntries);

/// Whether what `path` names (links followed: the user named it) is a directory; NotFound or Io
/// where it cannot be looked at.
Result<bool> isDirectory(const std::filesystem::path &path, const std::string &displayName);

} // namespace forkpoint
