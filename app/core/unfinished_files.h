// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace forkpoint {

/// From now on SIGINT, SIGTERM and SIGHUP remove the files that are being written before they end
/// the program, and a file that grows beyond the limit of its size (SIGXFSZ) is an error of writing.
/// For programs without an event loop, once, before any thread.
void removeUnfinishedFilesOnSignals();

/// Paths of files that are being written: absolute or not, as the process sees them. At most 16 at a
/// time and 4,095 bytes each are kept, so that a signal handler can read them; others stay behind.
void rememberUnfinishedFile(const std::string &path);
void forgetUnfinishedFile(const std::string &path);

} // namespace forkpoint
