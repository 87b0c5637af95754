// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/assembly_rules.h"

#include "model/rule_table.h"
#include "model/state_class.h"

#include <algorithm>

namespace forkpoint {

namespace resources {
extern const std::string_view rankAssemblyRules;
}

namespace {

using How = AssemblyRule::How;

/// False where the word is none of the table's.
bool readHow(std::string_view text, AssemblyRule &rule)
{
    constexpr std::string_view Gated = "gated:";
    if (text == "0" || text == "1") {
        rule.how = text == "0" ? How::Axis0 : How::Axis1;
        return true;
    }
    if (text.starts_with(Gated)) {
        rule.how = How::Gated;
        text.remove_prefix(Gated.size());
        const auto colon = std::min(text.find(':'), text.size());
        rule.layer = text.substr(0, colon);
        rule.next = text.substr(std::min(colon + 1, text.size()));
        return !rule.layer.empty() && !rule.next.empty();
    }
    return text == "same";
}

const std::vector<AssemblyRule> &assemblyRules()
{
    // The embedded table is checked by a test; a broken one would put nothing together.
    static const std::vector<AssemblyRule> rules = [] {
        auto parsed = parseAssemblyRules(resources::rankAssemblyRules);
        return parsed ? std::move(parsed).value() : std::vector<AssemblyRule>();
    }();
    return rules;
}

} // namespace

Result<std::vector<AssemblyRule>> parseAssemblyRules(std::string_view text)
{
    std::vector<AssemblyRule> rules;
    for (auto [line, number] : ruleLines(text)) {
        AssemblyRule rule;
        const bool isKnown = readHow(takeWord(line), rule);
        rule.pattern = takeWord(line);
        const auto reason = std::min(line.find_first_not_of(" \t"), line.size());
        if (!isKnown || rule.pattern.empty() || reason == line.size())
            return Error{ErrorCode::Malformed,
                         {},
                         "line " + std::to_string(number),
                         "expected how, a pattern and a reason"};
        rule.reason = line.substr(reason);
        rules.push_back(std::move(rule));
    }
    return rules;
}

const AssemblyRule *assemblyRuleFor(std::string_view name)
{
    const auto &rules = assemblyRules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const AssemblyRule &each) {
        return globMatches(each.pattern, name);
    });
    return rule == rules.end() ? nullptr : &*rule;
}

std::string NumberedName::with(std::int64_t other) const
{
    return before + std::to_string(other) + after;
}

std::optional<NumberedName> numberedBehind(std::string_view name, std::string_view word)
{
    const auto at = name.find(word);
    if (at == std::string_view::npos || (at > 0 && name[at - 1] != '.'))
        return std::nullopt;
    const std::size_t begin = at + word.size();
    const std::size_t end = std::min(name.find('.', begin), name.size());
    if (end == begin || end - begin > 6)
        return std::nullopt;
    NumberedName result{std::string(name.substr(0, begin)), std::string(name.substr(end)), 0};
    for (std::size_t i = begin; i < end; ++i) {
        if (name[i] < '0' || name[i] > '9')
            return std::nullopt;
        result.number = result.number * 10 + (name[i] - '0');
    }
    return result;
}

std::string withLayer(std::string_view name, std::uint64_t layer)
{
    constexpr std::string_view Layers = "layers.";
    const auto at = name.find(Layers);
    const std::size_t behind = at + Layers.size();
    if (at == std::string_view::npos || (at > 0 && name[at - 1] != '.') || behind >= name.size()
        || (name[behind] >= '0' && name[behind] <= '9'))
        return {};
    return std::string(name.substr(0, behind)) + std::to_string(layer) + "."
        + std::string(name.substr(behind));
}

} // namespace forkpoint
