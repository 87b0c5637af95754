// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/resume_rules.h"

#include "model/rule_table.h"

#include "model/state_class.h"

#include <algorithm>
#include <charconv>

namespace forkpoint {

namespace resources {
extern const std::string_view resumeRoleRules;
}

namespace {

struct RoleName
{
    std::string_view name;
    ResumeRole role;
};

constexpr RoleName RoleNames[] = {
    {"iteration", ResumeRole::Iteration},
    {"optimizer-step", ResumeRole::OptimizerStep},
    {"scheduler-step", ResumeRole::SchedulerStep},
    {"scheduler-before", ResumeRole::SchedulerBefore},
    {"scheduler-samples", ResumeRole::SchedulerSamples},
    {"epoch", ResumeRole::Epoch},
    {"samples", ResumeRole::Samples},
    {"global-batch", ResumeRole::GlobalBatch},
    {"batch-factor", ResumeRole::BatchFactor},
    {"rate", ResumeRole::Rate},
    {"last-rate", ResumeRole::LastRate},
    {"seed", ResumeRole::Seed},
    {"moment", ResumeRole::Moment},
    {"master", ResumeRole::Master},
    {"ranks", ResumeRole::Ranks},
    {"alike-over-tp", ResumeRole::AlikeOverTp},
    {"unlike-over-tp", ResumeRole::UnlikeOverTp},
};

/// The part in braces at the begin of `pattern`, without them.
std::string_view bracedPart(std::string_view pattern)
{
    const auto end = pattern.find('}');
    return pattern.starts_with('{') && end != std::string_view::npos ? pattern.substr(1, end - 1)
                                                                     : std::string_view();
}

std::string globOf(std::string_view pattern)
{
    std::string glob;
    while (!pattern.empty()) {
        const std::string_view part = bracedPart(pattern);
        glob += part.empty() ? pattern.front() : '*';
        pattern.remove_prefix(part.empty() ? 1 : part.size() + 2);
    }
    return glob;
}

Result<ResumeRule> parseRule(std::string_view line, std::size_t number)
{
    const std::string_view role = takeWord(line), pattern = takeWord(line);
    const auto known = std::find_if(std::begin(RoleNames), std::end(RoleNames),
                                    [&](const RoleName &entry) { return entry.name == role; });
    const auto reason = std::min(line.find_first_not_of(" \t"), line.size());
    if (known == std::end(RoleNames) || pattern.empty() || reason == line.size()) {
        return Error{ErrorCode::Malformed,
                     {},
                     "line " + std::to_string(number),
                     "expected a role, a pattern and a reason"};
    }
    return ResumeRule{known->role, std::string(pattern), std::string(line.substr(reason)),
                      globOf(pattern)};
}

bool isDigits(std::string_view text)
{
    return !text.empty()
        && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Backtracks over the few stars and parts that a pattern of the table has.
bool match(std::string_view pattern, std::string_view name, NameParts &parts)
{
    while (!pattern.empty()) {
        const std::string_view part = bracedPart(pattern);
        if (part.empty() && pattern.front() != '*') {
            if (name.empty() || name.front() != pattern.front())
                return false;
            pattern.remove_prefix(1);
            name.remove_prefix(1);
            continue;
        }
        const std::string_view rest = pattern.substr(part.empty() ? 1 : part.size() + 2);
        for (std::size_t length = name.size() + 1; length-- > 0;) {
            if (!part.empty() && part != "x" && !isDigits(name.substr(0, length)))
                continue;
            const std::size_t before = parts.size();
            if (!part.empty())
                parts.emplace_back(part, name.substr(0, length));
            if (match(rest, name.substr(length), parts))
                return true;
            parts.resize(before);
        }
        return false;
    }
    return name.empty();
}

} // namespace

std::optional<NameParts> matchParts(std::string_view pattern, std::string_view name)
{
    NameParts parts;
    if (!match(pattern, name, parts))
        return std::nullopt;
    return parts;
}

std::optional<NameParts> ResumeRule::match(std::string_view name) const
{
    // Names of files are any length; those that mean something here are short.
    constexpr std::size_t Longest = 512;
    if (name.size() > Longest || !globMatches(glob, name))
        return std::nullopt;
    return matchParts(pattern, name);
}

std::string fillParts(std::string_view pattern, const NameParts &parts)
{
    std::string text;
    while (!pattern.empty()) {
        const std::string_view part = bracedPart(pattern);
        const auto found = std::find_if(parts.begin(), parts.end(),
                                        [&](const auto &entry) { return entry.first == part; });
        if (part.empty() || found == parts.end()) {
            text += pattern.front();
            pattern.remove_prefix(1);
            continue;
        }
        text += found->second;
        pattern.remove_prefix(part.size() + 2);
    }
    return text;
}

const ResumeRules &ResumeRules::builtin()
{
    // The embedded table is checked by a test; a broken one would know no role at all.
    static const ResumeRules rules = [] {
        auto parsed = parse(resources::resumeRoleRules);
        return parsed ? std::move(parsed).value() : ResumeRules();
    }();
    return rules;
}

Result<ResumeRules> ResumeRules::parse(std::string_view text)
{
    ResumeRules rules;
    for (const auto &[line, number] : ruleLines(text)) {
        FP_TRY(ResumeRule rule, parseRule(line, number));
        rules.m_rules.push_back(std::move(rule));
    }
    return rules;
}

std::vector<const ResumeRule *> ResumeRules::matches(ResumeRole role, std::string_view name) const
{
    std::vector<const ResumeRule *> found;
    for (const ResumeRule &rule : m_rules) {
        if (rule.role == role && rule.match(name))
            found.push_back(&rule);
    }
    return found;
}

ResumeRole ResumeRules::roleOf(std::string_view name,
                               std::initializer_list<ResumeRole> wanted) const
{
    for (const ResumeRule &rule : m_rules) {
        if (std::find(wanted.begin(), wanted.end(), rule.role) != wanted.end() && rule.match(name))
            return rule.role;
    }
    return ResumeRole::None;
}

OwnerCoordinate ResumeRules::ranksOf(std::string_view name) const
{
    OwnerCoordinate ranks;
    for (const ResumeRule &rule : m_rules) {
        if (rule.role != ResumeRole::Ranks)
            continue;
        const auto parts = rule.match(name);
        if (!parts)
            continue;
        for (const auto &[axis, digits] : *parts) {
            std::int64_t number = 0;
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
            ranks.axes.emplace_back(axis, number);
        }
        break;
    }
    return ranks;
}

std::string ResumeRules::withoutRanks(std::string_view name) const
{
    for (const ResumeRule &rule : m_rules) {
        if (rule.role != ResumeRole::Ranks)
            continue;
        const auto parts = rule.match(name);
        if (!parts)
            continue;
        // What the closing star took is what remains.
        const auto star = rule.pattern.rfind('*');
        const std::string head = fillParts(std::string_view(rule.pattern).substr(0, star), *parts);
        return std::string(name.substr(std::min(head.size(), name.size())));
    }
    return std::string(name);
}

} // namespace forkpoint
