// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/zip_reader.h"

namespace forkpoint {

/// Where the end record of a zip says that its directory is (APPNOTE 4.3.14 to 4.3.16).
struct ZipDirectoryPlace
{
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
};

/// Finds the end record: the last one whose directory ends exactly where it begins. Comments that
/// look like end records, and bytes behind it, become diagnostics.
Result<ZipDirectoryPlace> findZipDirectory(const ByteSource &source, Diagnostics &diagnostics);

/// The entries of the directory, with their local headers not looked at yet.
Result<std::vector<ZipEntry>> readZipDirectory(const ByteSource &source,
                                               const ZipDirectoryPlace &place);

/// Looks at every local header and marks what must not be read: outside of [0, directory), another
/// name, overlapping, encrypted, compressed in another way.
void checkZipEntries(const ByteSource &source, std::uint64_t directory,
                     std::vector<ZipEntry> &entries);

} // namespace forkpoint
