// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/text/printable.h"

#include "model/text/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

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

/// Of one well-formed character.
char32_t codePoint(std::string_view character)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1)
        return at(0);
    char32_t point = at(0) & (0xffu >> (character.size() + 1));
    for (std::size_t i = 1; i < character.size(); ++i)
        point = point << 6 | (at(i) & 0x3fu);
    return point;
}

struct Range
{
    char32_t first, last;
};

/// What steers the place it is shown in, or cannot be seen there: controls, marks and overrides of
/// text direction, line separators, characters without width, tags.
constexpr std::array Unseen = {
    Range{0x00, 0x1f},     Range{0x7f, 0x9f},     Range{0xad, 0xad},     Range{0x61c, 0x61c},
    Range{0x180e, 0x180e}, Range{0x200b, 0x200f}, Range{0x2028, 0x202e}, Range{0x2060, 0x206f},
    Range{0xfeff, 0xfeff}, Range{0xfff9, 0xfffb}, Range{0xfffe, 0xffff}, Range{0xe0000, 0xe0fff},
};

bool isUnseen(std::string_view character)
{
    const char32_t point = codePoint(character);
    return std::any_of(Unseen.begin(), Unseen.end(), [&](const Range &range) {
        return point >= range.first && point <= range.last;
    });
}

} // namespace

std::string printable(std::string_view text)
{
    std::string result;
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        if (length == 0 || isUnseen(character))
            appendEscaped(result, character);
        else
            result += character;
        text.remove_prefix(character.size());
    }
    return result;
}

} // namespace forkpoint
