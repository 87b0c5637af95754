// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/own_name.h"

#include "loaders/text/ascii.h"

#include <algorithm>

namespace forkpoint {

namespace {

bool takeDigits(std::string_view &text)
{
    const auto end = std::find_if_not(text.begin(), text.end(), isDigit);
    const auto count = std::size_t(end - text.begin());
    text.remove_prefix(count);
    return count > 0;
}

bool takeWord(std::string_view &text, std::string_view word)
{
    const bool found = text.starts_with(word);
    if (found)
        text.remove_prefix(word.size());
    return found;
}

} // namespace

bool isOwnTraceName(std::string_view name)
{
    name = name.substr(name.rfind('/') + 1);
    if (name == "end.h5")
        return true;
    return takeWord(name, "steps_") && takeDigits(name) && takeWord(name, "-") && takeDigits(name)
        && name == ".h5";
}

} // namespace forkpoint
