// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/error.h"

#include <string>
#include <vector>

namespace forkpoint {

enum class Severity { Note, Warning, Error };

std::string_view toString(Severity severity);

/// What was skipped, refused or odd, where, and why. An Error means that bytes of something listed
/// could not be read; a Warning or Note never changes an exit status.
struct Diagnostic
{
    Severity severity = Severity::Warning;
    std::string code; ///< toString(ErrorCode) or a loader's own word in kebab-case
    std::string file;
    std::string place;
    std::string text;

    bool operator==(const Diagnostic &) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

Diagnostic toDiagnostic(const Error &error, Severity severity);

/// The same of one side of a comparison: its place begins with "A" or "B", as an Error's
/// atPlace() would have it.
Diagnostic ofSide(std::string_view side, Diagnostic diagnostic);

} // namespace forkpoint
