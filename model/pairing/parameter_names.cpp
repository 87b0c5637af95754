// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/parameter_names.h"

#include "model/rule_table.h"

#include <algorithm>

namespace forkpoint {

namespace resources {
extern const std::string_view parameterNameRules;
}

namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view text)
{
    Words keys;
    while (true) {
        const auto dot = text.find('.');
        keys.push_back(text.substr(0, dot));
        if (dot == std::string_view::npos)
            return keys;
        text.remove_prefix(dot + 1);
    }
}

std::string join(const Words &keys)
{
    std::string text;
    for (const std::string_view key : keys)
        text += (text.empty() ? "" : ".") + std::string(key);
    return text;
}

bool isNumber(std::string_view key)
{
    return !key.empty()
        && std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool contains(const std::vector<std::string> &words, std::string_view key)
{
    return std::find(words.begin(), words.end(), key) != words.end();
}

/// A name as the pattern that would be its row: numbers as #, and what they are.
struct Form
{
    std::string pattern;
    Words numbers;
    std::string_view leaf;
};

Form formOf(std::string_view name)
{
    Form form;
    Words keys = split(name);
    form.leaf = keys.back();
    for (std::string_view &key : keys) {
        if (!isNumber(key))
            continue;
        form.numbers.push_back(key);
        key = "#";
    }
    form.pattern = join(keys);
    return form;
}

/// The pattern with the leaf left open: "layers.#.norm.*".
std::string withOpenLeaf(const std::string &pattern)
{
    const auto dot = pattern.rfind('.');
    return dot == std::string::npos ? std::string() : pattern.substr(0, dot) + ".*";
}

std::string filled(const std::string &pattern, const Words &numbers, std::string_view leaf)
{
    Words keys = split(pattern);
    std::size_t next = 0;
    for (std::string_view &key : keys) {
        if (key == "#")
            key = numbers[next++]; // as many as in the name: parse() saw to it
        else if (key == "*")
            key = leaf;
    }
    return join(keys);
}

/// Whether two patterns name as many numbers, and both leave the leaf open or neither does.
bool fitTogether(std::string_view a, std::string_view b)
{
    return std::count(a.begin(), a.end(), '#') == std::count(b.begin(), b.end(), '#')
        && a.ends_with(".*") == b.ends_with(".*");
}

Words wordsOf(std::string_view line)
{
    Words words;
    for (std::string_view word = takeWord(line); !word.empty(); word = takeWord(line))
        words.push_back(word);
    return words;
}

Error ruleError(std::string text)
{
    return {ErrorCode::Malformed, {}, {}, std::move(text)};
}

} // namespace

Status ParameterNames::addLine(std::string_view kind, std::vector<std::string_view> words)
{
    const auto text = [&](std::size_t i) { return std::string(words[i]); };
    if (kind == "wrapper" && words.size() >= 2) {
        m_wrappers.push_back(text(0));
    } else if (kind == "prefix" && words.size() == 1) {
        m_prefixes.push_back(text(0));
    } else if (kind == "leaf" && (words.size() == 2 || words.size() == 3)) {
        m_leaves[text(0)] = {text(1), words.size() == 3 ? text(2) : std::string()};
    } else if (kind == "slot" && words.size() == 2) {
        const auto star = words[0].find('*');
        if (star == std::string_view::npos)
            return ruleError("expected * where the parameter's name stands");
        m_slots.push_back({text(0).substr(0, star), text(0).substr(star + 1), text(1)});
    } else if (kind == "name" && words.size() == 3) {
        if (!fitTogether(words[1], words[2]))
            return ruleError("expected as many # and the same leaf on both sides");
        const auto [row, isNew] = m_rows.emplace(text(1), Row{text(0), text(2)});
        if (!isNew && row->second.meaning != words[2])
            return ruleError("'" + text(1) + "' means '" + row->second.meaning + "' above");
    } else if (kind == "fused" && words.size() >= 3) {
        std::vector<std::string> &parts = m_fused[text(0)];
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (!fitTogether(words[0], words[i]))
                return ruleError("expected as many # and the same leaf in every part");
            parts.push_back(text(i));
        }
    } else {
        return ruleError("expected wrapper, slot, prefix, leaf, name or fused and its words");
    }
    return {};
}

Result<ParameterNames> ParameterNames::parse(std::string_view table)
{
    ParameterNames names;
    for (auto [line, number] : ruleLines(table)) {
        const std::string_view kind = takeWord(line);
        if (Status status = names.addLine(kind, wordsOf(line)); !status)
            return std::move(status).error().atPlace("line " + std::to_string(number));
    }
    return names;
}

const ParameterNames &ParameterNames::instance()
{
    // The embedded table is checked by a test; a broken one would know no name.
    static const ParameterNames names = [] {
        auto parsed = parse(resources::parameterNameRules);
        return parsed ? std::move(parsed).value() : ParameterNames();
    }();
    return names;
}

ParameterName ParameterNames::read(std::string_view name) const
{
    ParameterName result;
    Words keys = split(name);
    std::erase_if(keys, [&](std::string_view key) { return contains(m_wrappers, key); });
    const std::string unwrapped = join(keys);
    std::string_view rest = unwrapped;
    for (const Slot &slot : m_slots) {
        if (rest.size() > slot.before.size() + slot.after.size() && rest.starts_with(slot.before)
            && rest.ends_with(slot.after)) {
            rest.remove_prefix(slot.before.size());
            rest.remove_suffix(slot.after.size());
            result.slot = slot.name;
            break;
        }
    }
    for (auto dot = rest.find('.');
         dot != std::string_view::npos && contains(m_prefixes, rest.substr(0, dot));
         dot = rest.find('.'))
        rest.remove_prefix(dot + 1);
    result.bare = rest;
    const Form form = formOf(rest);
    auto row = m_rows.find(form.pattern);
    if (row == m_rows.end())
        row = m_rows.find(withOpenLeaf(form.pattern));
    if (row == m_rows.end())
        return result;
    const auto leaf = m_leaves.find(std::string(form.leaf));
    const bool isOther = leaf != m_leaves.end()
        && row->second.meaning.find(leaf->second.within) != std::string::npos;
    result.meaning = filled(row->second.meaning, form.numbers,
                            isOther ? std::string_view(leaf->second.other) : form.leaf);
    result.family = row->second.family;
    return result;
}

std::vector<std::string> ParameterNames::partsOf(std::string_view meaning) const
{
    const Form form = formOf(meaning);
    const auto found = m_fused.find(withOpenLeaf(form.pattern));
    std::vector<std::string> parts;
    if (found == m_fused.end())
        return parts;
    for (const std::string &pattern : found->second)
        parts.push_back(filled(pattern, form.numbers, form.leaf));
    return parts;
}

} // namespace forkpoint
