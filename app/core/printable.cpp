// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/printable.h"

#include "model/utf8.h"

namespace forkpoint {

namespace {

void appendEscaped(std::string &result, std::string_view bytes)
{
    static constexpr char Digits[] = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        result += "\\x";
        result += Digits[byte >> 4];
        result += Digits[byte & 15];
    }
}

/// C0, DEL, C1 (U+0080..9F), and the marks and overrides of text direction.
bool isControl(std::string_view character)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1)
        return at(0) < 0x20 || at(0) == 0x7f;
    if (character.size() == 2)
        return at(0) == 0xc2 && at(1) < 0xa0;
    if (character.size() != 3 || at(0) != 0xe2)
        return false;
    const bool marks =
        at(1) == 0x80 && (at(2) == 0x8e || at(2) == 0x8f || (at(2) >= 0xa8 && at(2) <= 0xae));
    return marks || (at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9);
}

} // namespace

std::string printable(std::string_view text)
{
    std::string result;
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        if (length == 0 || isControl(character))
            appendEscaped(result, character);
        else
            result += character;
        text.remove_prefix(character.size());
    }
    return result;
}

} // namespace forkpoint
