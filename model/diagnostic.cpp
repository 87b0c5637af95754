// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/diagnostic.h"

namespace forkpoint {

std::string_view toString(Severity severity)
{
    switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
    }
    return "error";
}

Diagnostic toDiagnostic(const Error &error, Severity severity)
{
    return {severity, std::string(toString(error.code)), error.file, error.place, error.text};
}

Diagnostic ofSide(std::string_view side, Diagnostic diagnostic)
{
    diagnostic.place =
        std::string(side) + (diagnostic.place.empty() ? "" : ", ") + diagnostic.place;
    return diagnostic;
}

} // namespace forkpoint
