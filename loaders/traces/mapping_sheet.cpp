// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/mapping_sheet.h"

#include "loaders/text/json.h"
#include "loaders/traces/trace_lines.h"
#include "model/state_class.h"

#include <algorithm>
#include <charconv>

namespace forkpoint {

namespace {

void takeGroups(const std::vector<LinePattern::Group> &groups, MappedTexts &texts)
{
    for (const LinePattern::Group &group : groups) {
        if (const auto field = mappingFieldByName(group.name))
            texts[*field] = group.text;
    }
}

/// The member of that key, or by keys and positions with points between: "meta.rank", "outputs.0.sha".
std::optional<JsonValue> findByPath(JsonValue value, std::string_view path)
{
    while (!path.empty()) {
        if (value.isObject()) {
            if (const auto whole = value.find(path))
                return whole;
        }
        const std::size_t end = std::min(path.find('.'), path.size());
        const std::string_view key = path.substr(0, end);
        path.remove_prefix(std::min(end + 1, path.size()));
        std::optional<JsonValue> child;
        if (value.isObject()) {
            child = value.find(key);
        } else if (value.isArray()) {
            std::size_t index = 0;
            const auto [last, error] = std::from_chars(key.data(), key.data() + key.size(), index);
            const std::vector<JsonValue> children = value.children();
            if (error == std::errc() && last == key.data() + key.size() && index < children.size())
                child = children[index];
        }
        if (!child || path.empty())
            return child;
        value = *child;
    }
    return std::nullopt;
}

std::string textOf(const JsonValue &value)
{
    if (value.kind() == JsonValue::Kind::Text)
        return std::string(*value.text());
    std::string text = canonicalText(value);
    if (value.kind() == JsonValue::Kind::Real && text.starts_with('"')) // NaN, an infinity
        text = text.substr(1, text.size() - 2);
    return text;
}

} // namespace

bool MappingSheet::choosesFile(std::string_view name) const
{
    constexpr std::string_view Gzip = ".gz";
    const std::string_view last = name.substr(name.rfind('/') + 1);
    const bool chosen = std::any_of(m_files.begin(), m_files.end(), [&](const std::string &glob) {
        return globMatches(glob, glob.find('/') == std::string::npos ? last : name);
    });
    return chosen
        || (name.ends_with(Gzip) && choosesFile(name.substr(0, name.size() - Gzip.size())));
}

MappedTexts MappingSheet::textsOfFile(std::string_view name) const
{
    MappedTexts texts;
    for (const Rule &path : m_paths) {
        std::vector<LinePattern::Group> groups;
        if (!path.pattern.match(name, groups))
            continue;
        takeGroups(groups, texts);
        break;
    }
    texts.fillFrom(m_constants);
    return texts;
}

MappedLine MappingSheet::take(std::string_view line, const MappedTexts &ofFile) const
{
    std::vector<LinePattern::Group> groups;
    for (const Rule &skip : m_skips) {
        if (skip.pattern.match(line, groups))
            return {MappedLine::Use::Skipped, {}, {}, skip.line};
    }
    MappedLine taken = m_keys.empty() ? takeText(line) : takeJson(line);
    if (taken.use == MappedLine::Use::Record)
        taken.texts.fillFrom(ofFile);
    return taken;
}

MappedLine MappingSheet::takeText(std::string_view line) const
{
    for (const Rule &rule : m_lines) {
        std::vector<LinePattern::Group> groups;
        if (!rule.pattern.match(line, groups))
            continue;
        MappedLine taken{MappedLine::Use::Record, {}, {}, rule.line};
        takeGroups(groups, taken.texts);
        return taken;
    }
    return {MappedLine::Use::NotUnderstood, {}, "matches no line rule of the sheet", 0};
}

MappedLine MappingSheet::takeJson(std::string_view line) const
{
    MappedLine taken;
    const auto document = JsonDocument::parse(line, RepeatedKeys::Refuse, NonFinite::Take);
    if (!document.ok()) {
        taken.problem = document.error().place + " of the line: " + document.error().text;
        return taken;
    }
    if (!document->root().isObject()) {
        taken.problem = "expected an object, got " + std::string(document->root().kindName());
        return taken;
    }
    bool hasAny = false;
    for (const auto &[field, path] : m_keys) {
        const auto value = findByPath(document->root(), path);
        if (!value || value->kind() == JsonValue::Kind::Null)
            continue;
        taken.texts[field] = textOf(*value);
        hasAny = true;
    }
    if (hasAny)
        taken.use = MappedLine::Use::Record;
    else
        taken.problem = "has none of the keys of the sheet";
    return taken;
}

} // namespace forkpoint
