// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_nonfinite.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Whether a value may begin behind that character, or end before it.
bool mayStandBeside(char c)
{
    return std::string_view(" \t\r\n:,[]{}").find(c) != std::string_view::npos;
}

/// The word that is a whole value at that place.
std::optional<NonFiniteWord> wordAt(std::string_view text, std::size_t at)
{
    if (at > 0 && !mayStandBeside(text[at - 1]))
        return std::nullopt;
    for (const NonFiniteWord &each : NonFiniteWords) {
        const std::size_t end = at + each.word.size();
        if (text.substr(at).starts_with(each.word)
            && (end == text.size() || mayStandBeside(text[end])))
            return each;
    }
    return std::nullopt;
}

} // namespace

std::optional<FiniteText> withFiniteNumbers(std::string_view text)
{
    FiniteText result;
    bool isInText = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"')
            isInText = !isInText;
        else if (isInText && text[i] == '\\')
            ++i;
        if (isInText || (text[i] != 'N' && text[i] != 'I' && text[i] != '-'))
            continue;
        const auto word = wordAt(text, i);
        if (!word)
            continue;
        if (result.text.empty())
            result.text = text;
        const std::size_t size = word->word.size();
        result.text.replace(i, size, "0." + std::string(size - 2, '0'));
        i += size - 1;
        result.replaced.push_back({i + 1, word->value});
    }
    return result.replaced.empty() ? std::nullopt : std::optional(std::move(result));
}

} // namespace forkpoint
