// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options.h"
#include "model/progress.h"

#include <chrono>
#include <string_view>

namespace forkpoint {

/// Writes to the file of -o, or to standard output. False (and a line on standard error) when that
/// fails: a full disk must not look like success.
bool writeOutput(const Options &options, std::string_view text);

/// "forkpoint-cli: FILE: PLACE: text" on standard error, unless --quiet.
void printDiagnostics(const Options &options, const Diagnostics &diagnostics);
void printError(const Error &error);

/// One line on standard error, rewritten at most ten times a second, only on a terminal.
class ProgressLine
{
public:
    explicit ProgressLine(const Options &options);
    ~ProgressLine();
    void show(const Progress &progress);

private:
    bool m_enabled = false;
    bool m_shown = false;
    std::chrono::steady_clock::time_point m_last;
};

} // namespace forkpoint
