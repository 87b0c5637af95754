// SPDX-License-Identifier: GPL-3.0-or-later
// Characters of text formats: only ASCII means anything, whatever the locale.
#pragma once

#include "model/text/text.h"

#include <string_view>

namespace forkpoint {

/// Without the characters of `blank` at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blank = " \t\r")
{
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

inline bool isBlank(std::string_view line)
{
    return trimmed(line).empty();
}

} // namespace forkpoint
