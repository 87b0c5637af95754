// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/state_class.h"

#include "model/rule_table.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace resources {
extern const std::string_view stateClassRules;
}

namespace {

struct ClassName
{
    StateClass stateClass;
    std::string_view name;
};

constexpr std::array<ClassName, 12> ClassNames = {{
    {StateClass::Weights, "weights"},
    {StateClass::Optimizer, "optimizer"},
    {StateClass::Scheduler, "scheduler"},
    {StateClass::Counter, "counter"},
    {StateClass::Rng, "rng"},
    {StateClass::Data, "data"},
    {StateClass::Scaler, "scaler"},
    {StateClass::Recipe, "recipe"},
    {StateClass::Topology, "topology"},
    {StateClass::Container, "container"},
    {StateClass::Bookkeeping, "bookkeeping"},
    {StateClass::Unknown, "unknown"},
}};

Error ruleError(std::size_t line, std::string text)
{
    return {ErrorCode::Malformed, "class rules", "line " + std::to_string(line), std::move(text)};
}

/// A bit for each of 64 kinds of bytes in the text.
std::uint64_t kindsOfBytes(std::string_view text)
{
    std::uint64_t kinds = 0;
    for (const char c : text)
        kinds |= std::uint64_t(1) << (static_cast<unsigned char>(c) % 64);
    return kinds;
}

std::uint64_t bytesNeededBy(std::string_view pattern)
{
    std::string literal(pattern);
    std::erase_if(literal, [](char c) { return c == '*' || c == '?'; });
    return kindsOfBytes(literal);
}

Result<StateClassRule> parseRule(std::string_view line, std::size_t number)
{
    const auto stateClass = stateClassByName(takeWord(line));
    if (!stateClass)
        return ruleError(number, "does not begin with a class");
    const std::string_view subject = takeWord(line);
    if (subject != "tensor" && subject != "value" && subject != "any")
        return ruleError(number, "second word is not tensor, value or any");
    const std::string_view pattern = takeWord(line);
    if (pattern.empty())
        return ruleError(number, "has no pattern");
    const auto reason = std::min(line.find_first_not_of(" \t"), line.size());
    return StateClassRule{std::string(pattern),
                          subject == "tensor",
                          subject == "value",
                          *stateClass,
                          std::string(line.substr(reason)),
                          bytesNeededBy(pattern)};
}

} // namespace

std::string_view toString(StateClass stateClass)
{
    for (const ClassName &entry : ClassNames) {
        if (entry.stateClass == stateClass)
            return entry.name;
    }
    return "unknown";
}

std::optional<StateClass> stateClassByName(std::string_view name)
{
    for (const ClassName &entry : ClassNames) {
        if (entry.name == name)
            return entry.stateClass;
    }
    return std::nullopt;
}

bool isContext(StateClass stateClass)
{
    return stateClass == StateClass::Recipe || stateClass == StateClass::Topology
        || stateClass == StateClass::Container || stateClass == StateClass::Bookkeeping;
}

const std::vector<StateClass> &allStateClasses()
{
    static const std::vector<StateClass> classes = [] {
        std::vector<StateClass> result;
        for (const ClassName &entry : ClassNames)
            result.push_back(entry.stateClass);
        return result;
    }();
    return classes;
}

const StateClassRules &StateClassRules::builtin()
{
    // The embedded table is checked by a test; a broken one would classify everything Unknown.
    static const StateClassRules rules = [] {
        auto parsed = parse(resources::stateClassRules);
        return parsed ? std::move(parsed).value() : StateClassRules();
    }();
    return rules;
}

Result<StateClassRules> StateClassRules::parse(std::string_view text)
{
    StateClassRules rules;
    for (const auto &[line, number] : ruleLines(text)) {
        FP_TRY(StateClassRule rule, parseRule(line, number));
        rules.m_rules.push_back(std::move(rule));
    }
    return rules;
}

const StateClassRule *StateClassRules::match(std::string_view name, bool isTensor) const
{
    const std::uint64_t kinds = kindsOfBytes(name);
    for (const StateClassRule &rule : m_rules) {
        if ((rule.tensorsOnly && !isTensor) || (rule.valuesOnly && isTensor))
            continue;
        const bool lacksBytes = (rule.neededBytes & ~kinds) != 0; // most do, of most rules
        if (!lacksBytes && globMatches(rule.pattern, name))
            return &rule;
    }
    return nullptr;
}

StateClass StateClassRules::classify(std::string_view name, bool isTensor) const
{
    const StateClassRule *rule = match(name, isTensor);
    return rule ? rule->stateClass : StateClass::Unknown;
}

bool globMatches(std::string_view pattern, std::string_view text)
{
    // Most patterns fail on their last character.
    if (!pattern.empty() && pattern.back() != '*' && pattern.back() != '?'
        && (text.empty() || text.back() != pattern.back()))
        return false;
    // The usual backtracking to the last star only: any earlier star has matched the shortest text.
    std::size_t p = 0, t = 0, star = std::string_view::npos, starText = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            starText = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++starText;
        } else {
            return false;
        }
    }
    return std::all_of(pattern.begin() + std::ptrdiff_t(p), pattern.end(),
                       [](char c) { return c == '*'; });
}

} // namespace forkpoint
