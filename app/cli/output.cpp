// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include "app/core/output_file.h"
#include "model/format.h"
#include "model/text/printable.h"

#include <cstdio>
#include <unistd.h>

namespace forkpoint {

bool writeOutput(const Options &options, std::string_view text)
{
    if (!options.output.empty()) {
        if (const Status status = writeTextFile(options.output, text); !status) {
            printError(status.error());
            return false;
        }
        return true;
    }
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written)
        printError({ErrorCode::Io, "standard output", {}, "could not be written"});
    return written;
}

void printDiagnostics(const Options &options, const Diagnostics &diagnostics)
{
    if (options.quiet)
        return;
    for (const Diagnostic &diagnostic : diagnostics) {
        std::string line = "forkpoint-cli: ";
        if (!diagnostic.file.empty())
            line += printable(diagnostic.file) + ": ";
        if (!diagnostic.place.empty())
            line += printable(diagnostic.place) + ": ";
        line +=
            std::string(toString(diagnostic.severity)) + ": " + printable(diagnostic.text) + "\n";
        std::fputs(line.c_str(), stderr);
    }
}

void printError(const Error &error)
{
    std::fputs(("forkpoint-cli: " + printable(error.message()) + "\n").c_str(), stderr);
}

ProgressLine::ProgressLine(const Options &options)
    : m_enabled(!options.quiet && isatty(STDERR_FILENO) != 0)
{
}

ProgressLine::~ProgressLine()
{
    if (m_shown)
        std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(const Progress &progress)
{
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (!m_enabled || (m_shown && now - m_last < 100ms))
        return;
    m_shown = true;
    m_last = now;
    const std::string line = "\r\x1b[K" + progress.phase + ": " + byteSize(progress.bytesDone)
        + " of " + byteSize(progress.bytesTotal) + "  " + printable(progress.item).substr(0, 60);
    std::fputs(line.c_str(), stderr);
}

} // namespace forkpoint
