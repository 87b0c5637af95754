// SPDX-License-Identifier: GPL-3.0-or-later
// Why a file that was given as a run is none, and what would make it one.
#pragma once

#include "loaders/storage/byte_source.h"
#include "loaders/storage/platform_directory.h"

#include <filesystem>
#include <string>

namespace forkpoint {

/// Of a file that neither holds metrics nor is of a known dialect of traces: what its first line
/// lacks, and the sheet of rules (--mapping) by which it can be read, as "; ..." to be put behind an
/// error. Of what must be unpacked first, or is not opened yet, that. Empty of other bytes.
std::string whyUnread(const ByteSource &source);

/// The same of a directory: the first text in it, by its name; and where folders of ranks lie
/// without a step above them.
std::string whyUnreadFiles(const std::filesystem::path &directory, const DirectoryListing &listing);

} // namespace forkpoint
