// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/text/shell_word.h"

#include "model/text/printable.h"

#include <algorithm>

namespace forkpoint {

namespace {

bool isPlain(char c)
{
    static constexpr std::string_view Others = "-_./:=,+@%^";
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
        || Others.find(c) != std::string_view::npos;
}

/// Every byte that is not plain ASCII as \xNN inside $'...'.
std::string escapedWord(std::string_view text)
{
    static constexpr char Digits[] = "0123456789abcdef";
    std::string word = "$'";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\'' || c == '\\') {
            word += '\\';
            word += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            word += "\\x";
            word += Digits[byte >> 4];
            word += Digits[byte & 15];
        } else {
            word += c;
        }
    }
    return word + '\'';
}

} // namespace

std::string shellWord(std::string_view text)
{
    if (!text.empty() && std::all_of(text.begin(), text.end(), isPlain))
        return std::string(text);
    if (printable(text) != text)
        return escapedWord(text);
    std::string word = "'";
    for (const char c : text)
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + '\'';
}

} // namespace forkpoint
