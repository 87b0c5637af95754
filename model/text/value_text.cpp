// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/text/value_text.h"

#include "model/format.h"
#include "model/text/utf8.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t Longest = 300;
constexpr std::size_t BeforeDifference = 40;

std::string folded(std::string_view text, std::size_t from)
{
    if (text.size() <= Longest)
        return std::string(text);
    const std::size_t first = characterAt(text, from);
    const std::size_t end = characterAt(text, std::min(first + Longest, text.size()));
    return (first > 0 ? "..." : "") + std::string(text.substr(first, end - first))
        + (end < text.size() ? "..." : "") + " (" + grouped(text.size()) + " bytes in all)";
}

} // namespace

std::string shownValue(const Value &value)
{
    return folded(value.toDisplay(), 0);
}

std::string shownChange(const std::optional<Value> &a, const std::optional<Value> &b,
                        std::string_view missing)
{
    const std::string left = a ? a->toDisplay() : std::string();
    const std::string right = b ? b->toDisplay() : std::string();
    const auto common = std::size_t(
        std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first - left.begin());
    const bool isLate = a && b && common > Longest - BeforeDifference;
    const std::size_t from = isLate ? common - BeforeDifference : 0;
    return (a ? folded(left, std::min(from, left.size())) : std::string(missing)) + " → "
        + (b ? folded(right, std::min(from, right.size())) : std::string(missing));
}

} // namespace forkpoint
