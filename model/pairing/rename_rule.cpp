// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/pairing.h"

namespace forkpoint {

namespace {

Error ruleError(std::string text)
{
    return {ErrorCode::Usage, {}, "rename rule", std::move(text)};
}

} // namespace

Result<RenameRule> RenameRule::parse(std::string_view text)
{
    if (text.size() < 4 || text[0] != 's')
        return ruleError("expected s/old/new/, got '" + std::string(text) + "'");
    const char separator = text[1];
    const auto middle = text.find(separator, 2);
    const auto end = middle == std::string_view::npos ? middle : text.find(separator, middle + 1);
    if (end == std::string_view::npos || end + 1 != text.size())
        return ruleError("expected s/old/new/ with three separators, got '" + std::string(text)
                         + "'");
    RenameRule rule;
    std::string_view from = text.substr(2, middle - 2);
    if (from.starts_with('^')) {
        rule.atStart = true;
        from.remove_prefix(1);
    }
    if (from.ends_with('$')) {
        rule.atEnd = true;
        from.remove_suffix(1);
    }
    rule.from = from;
    rule.to = text.substr(middle + 1, end - middle - 1);
    if (rule.from.empty() && !rule.atStart && !rule.atEnd)
        return ruleError("the text to replace is empty in '" + std::string(text) + "'");
    return rule;
}

std::string RenameRule::toString() const
{
    const bool slash = (from + to).find('/') != std::string::npos;
    const std::string separator = slash ? "|" : "/";
    return "s" + separator + (atStart ? "^" : "") + from + (atEnd ? "$" : "") + separator + to
        + separator;
}

std::string RenameRule::apply(std::string_view name) const
{
    std::size_t at = 0;
    if (atStart && atEnd)
        at = name == from ? 0 : std::string_view::npos;
    else if (atStart)
        at = name.starts_with(from) ? 0 : std::string_view::npos;
    else if (atEnd)
        at = name.ends_with(from) ? name.size() - from.size() : std::string_view::npos;
    else
        at = name.find(from);
    std::string result(name);
    if (at != std::string_view::npos)
        result.replace(at, from.size(), to);
    return result;
}

} // namespace forkpoint
