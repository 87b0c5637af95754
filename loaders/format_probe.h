// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

#include <string_view>

namespace forkpoint {

/// The loader most sure of a file, by its first bytes, and how sure it is. An empty name goes with
/// Confidence::No.
struct FormatGuess
{
    std::string_view format;
    Confidence confidence = Confidence::No;
};

FormatGuess probeFormat(const ByteSource &source);

} // namespace forkpoint
