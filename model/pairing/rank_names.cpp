// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/rank_names.h"

#include "model/resume/resume_rules.h"
#include "model/rule_table.h"

#include <algorithm>

namespace forkpoint {

namespace resources {
extern const std::string_view rankNameRules;
}

namespace {

constexpr std::string_view Folder = "mp_rank_", Buffers = "distrib_optim",
                           Gathered = ".param_state/shard_0_1";

const std::vector<RankNameRule> &rankNameRules()
{
    // The embedded table is checked by a test; a broken one would leave all names alone.
    static const std::vector<RankNameRule> rules = [] {
        auto parsed = parseRankNameRules(resources::rankNameRules);
        return parsed ? std::move(parsed).value() : std::vector<RankNameRule>();
    }();
    return rules;
}

std::vector<std::string> keysOf(std::string_view dotted)
{
    std::vector<std::string> keys;
    while (!dotted.empty()) {
        const auto dot = std::min(dotted.find('.'), dotted.size());
        keys.emplace_back(dotted.substr(0, dot));
        dotted.remove_prefix(std::min(dot + 1, dotted.size()));
    }
    return keys;
}

/// Whether the keys of the rule follow the folder in the path.
bool matches(const RankNameRule &rule, const KeyPath &path)
{
    if (path.keys.size() <= rule.keys.size())
        return false;
    return std::equal(rule.keys.begin(), rule.keys.end(), path.keys.begin() + 1,
                      [](const std::string &text, const Key &key) {
                          return key.kind == Key::Kind::Text && key.text == text;
                      });
}

std::int64_t rankOn(const OwnerCoordinate &owner, std::string_view axis)
{
    for (const auto &[name, number] : owner.axes) {
        if (name == axis)
            return number;
    }
    return 0;
}

} // namespace

Result<std::vector<RankNameRule>> parseRankNameRules(std::string_view text)
{
    std::vector<RankNameRule> rules;
    for (auto [line, number] : ruleLines(text)) {
        RankNameRule rule;
        rule.keys = keysOf(takeWord(line));
        rule.object = takeWord(line);
        const auto reason = std::min(line.find_first_not_of(" \t"), line.size());
        if (rule.keys.empty() || rule.object.empty() || reason == line.size())
            return Error{ErrorCode::Malformed,
                         {},
                         "line " + std::to_string(number),
                         "expected keys, an object and a reason"};
        rule.reason = line.substr(reason);
        rules.push_back(std::move(rule));
    }
    return rules;
}

RankNames::RankNames(const Catalog &ranks, const std::set<std::string_view> &objects)
{
    addFolders(ranks);
    std::int64_t tensorRanks = 1, stages = 1;
    for (const auto &[folder, owner] : m_folders) {
        tensorRanks = std::max(tensorRanks, rankOn(owner, "tp") + 1);
        stages = std::max(stages, rankOn(owner, "pp") + 1);
    }
    for (const auto &[folder, owner] : m_folders) {
        const std::int64_t tensor = rankOn(owner, "tp"), stage = rankOn(owner, "pp");
        const std::int64_t group = tensor + stage * tensorRanks;
        const NameParts parts{{"tp", std::to_string(tensor)},
                              {"pp", std::to_string(stage)},
                              {"tps", std::to_string(tensorRanks)},
                              {"pps", std::to_string(stages)},
                              {"mp", std::to_string(group)}};
        m_groups.emplace(folder, group);
        for (const RankNameRule &rule : rankNameRules()) {
            std::string object = fillParts(rule.object, parts);
            if (objects.contains(object))
                m_renamed[folder].push_back({&rule, std::move(object)});
        }
    }
}

/// None where a rank stands on an axis that the names do not tell.
void RankNames::addFolders(const Catalog &ranks)
{
    for (const TensorRef &tensor : ranks.tensors) {
        if (tensor.owner >= ranks.owners.size() || tensor.path.keys.empty()
            || !tensor.path.keys[0].text.starts_with(Folder))
            continue;
        const OwnerCoordinate &owner = ranks.owners[tensor.owner];
        for (const auto &[axis, number] : owner.axes) {
            if (axis != "tp" && axis != "pp" && number > 0) {
                m_folders.clear();
                return;
            }
        }
        m_folders.emplace(tensor.path.keys[0].text, owner);
    }
}

std::optional<RankNames::Found> RankNames::find(const KeyPath &path) const
{
    const auto renamed = path.keys.empty() ? m_renamed.end() : m_renamed.find(path.keys[0].text);
    if (renamed == m_renamed.end())
        return std::nullopt;
    for (const auto &[rule, object] : renamed->second) {
        if (!matches(*rule, path))
            continue;
        Found found{{{Key::of(object), Key::at(0)}}, rule->reason};
        const auto rest = path.keys.begin() + 1 + std::ptrdiff_t(rule->keys.size());
        found.path.keys.insert(found.path.keys.end(), rest, path.keys.end());
        return found;
    }
    return std::nullopt;
}

std::string RankNames::bucketsOf(const KeyPath &path) const
{
    if (path.keys.size() != 5)
        return {};
    const std::string_view first = path.keys[0].text;
    const auto group = path.keys[1].text == Buffers ? m_groups.find(first) : m_groups.end();
    std::string stem;
    if (group != m_groups.end())
        stem = "optimizer.distributed.dp_group_idx_" + std::to_string(group->second);
    else if (first.starts_with("optimizer.distributed.") && first.ends_with(Gathered))
        stem = first.substr(0, first.size() - Gathered.size());
    else
        return {};
    return stem + ".gbuf_idx_" + path.keys[2].toString() + ".dtype_" + path.keys[3].toString()
        + ".bucket_idx_";
}

} // namespace forkpoint
