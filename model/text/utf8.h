// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace forkpoint {

/// Length in bytes of the UTF-8 character that `text` begins with, or 0 where it begins with none:
/// truncated, overlong, a surrogate or beyond U+10FFFF (Unicode 15, table 3-7).
constexpr std::size_t utf8Length(std::string_view text)
{
    if (text.empty())
        return 0;
    const auto at = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return at(i) >= low && at(i) <= high;
    };
    const unsigned lead = at(0);
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        return continues(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : 0xbf;
        return continues(1, low, high) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
        return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

constexpr bool isValidUtf8(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

/// `at`, moved back to where a character begins: a text is cut there without halving one.
constexpr std::size_t characterAt(std::string_view text, std::size_t at)
{
    if (at >= text.size())
        return text.size();
    for (std::size_t back = 0; back < 4 && at > back; ++back) {
        if (utf8Length(text.substr(at - back)) > 0)
            return at - back;
    }
    return at;
}

} // namespace forkpoint
