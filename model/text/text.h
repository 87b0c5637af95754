// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace forkpoint {

inline bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// The text with its ASCII letters in lower case.
inline std::string lowered(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return result;
}

/// "a, b, c"
template <class Texts>
std::string listed(const Texts &texts)
{
    std::string all;
    for (const std::string &text : texts)
        all += (all.empty() ? "" : ", ") + text;
    return all;
}

} // namespace forkpoint
