// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options.h"

namespace forkpoint {

// One function a command; each returns the exit status of the contract.
int runCompare(const Options &options);
int runReport(const Options &options);
int runInspect(const Options &options);
int runFingerprint(const Options &options);
int runElements(const Options &options);
int runExtract(const Options &options);
int runIndex(const Options &options);
int runFormats(const Options &options);
int runDevices(const Options &options);
int runSelftestCommand(const Options &options);

/// What --json prints when a command could not even begin: the command's own document, empty.
std::string refusalDocument(const std::string &command, const std::string &reason);

} // namespace forkpoint
