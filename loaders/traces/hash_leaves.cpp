// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/hash_leaves.h"

#include "loaders/limits.h"
#include "loaders/text/ascii.h"
#include "model/metrics/printed_decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace forkpoint {

namespace {

bool isWordChar(char c)
{
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void add(std::vector<HashLeaf> &leaves, const std::string &path, std::string text)
{
    if (leaves.size() >= limits::TraceObservations)
        return;
    const bool integer = std::all_of(text.begin(), text.end(), isDigit) && !text.empty();
    leaves.push_back({path.empty() ? "<root>" : path, std::move(text), integer});
}

std::string at(const std::string &path, std::size_t index)
{
    return path + "[" + std::to_string(index) + "]";
}

std::string textOfScalar(const JsonValue &value)
{
    switch (value.kind()) {
    case JsonValue::Kind::Unsigned: return std::to_string(*value.unsignedInteger());
    case JsonValue::Kind::Negative: return std::to_string(*value.negative());
    case JsonValue::Kind::Text:
    case JsonValue::Kind::Digits: return std::string(*value.text());
    case JsonValue::Kind::Real: {
        std::array<char, 32> text;
        const auto end = std::to_chars(text.data(), text.data() + text.size(), *value.real());
        std::string shortest(text.data(), end.ptr);
        return shortest.find_first_of(".en") == std::string::npos ? shortest + ".0" : shortest;
    }
    default: return {};
    }
}

/// Walks without recursion: JSON is bounded by its own depth, the list here by the tree's width.
void collect(const JsonValue &root, std::vector<HashLeaf> &leaves)
{
    std::vector<std::pair<JsonValue, std::string>> open{{root, {}}};
    while (!open.empty() && leaves.size() < limits::TraceObservations) {
        const auto [node, path] = open.back();
        open.pop_back();
        const auto items = node.isObject() ? node.find("items") : std::nullopt;
        const auto value = node.isObject() ? node.find("value") : std::nullopt;
        if (value && value->kind() != JsonValue::Kind::Null) {
            if (std::string text = textOfScalar(*value); !text.empty())
                add(leaves, path, std::move(text));
        }
        if (!items || !items->isArray())
            continue;
        const auto type = node.find("type");
        const bool isDict = type && type->text() == "dict";
        std::vector<std::pair<JsonValue, std::string>> below;
        std::size_t index = 0;
        for (const JsonValue &item : items->children()) {
            const auto pair = isDict ? item.children() : std::vector<JsonValue>();
            if (pair.size() == 2)
                below.emplace_back(pair[1], path + "['" + textOfScalar(pair[0]) + "']");
            else
                below.emplace_back(item, at(path, index));
            ++index;
        }
        open.insert(open.end(), below.rbegin(), below.rend());
    }
}

/// Python's repr of nested tuples, lists and dicts of numbers, None, booleans and texts.
class PythonTree
{
public:
    explicit PythonTree(std::string_view text) : m_text(text) {}

    std::optional<std::vector<HashLeaf>> read()
    {
        while (m_at < m_text.size()) {
            if (!step())
                return std::nullopt;
        }
        return m_open.empty() && m_any ? std::optional(std::move(m_leaves)) : std::nullopt;
    }

private:
    struct Container
    {
        char closes = ')';
        std::size_t index = 0;
        std::string key;
        std::string path;
    };

    std::string here() const
    {
        if (m_open.empty())
            return {};
        const Container &inner = m_open.back();
        return inner.closes == '}' ? inner.path + "['" + inner.key + "']"
                                   : at(inner.path, inner.index);
    }

    bool step()
    {
        const char c = m_text[m_at];
        if (c == ' ') {
            ++m_at;
        } else if (c == '(' || c == '[' || c == '{') {
            if (m_open.size() == limits::JsonDepth)
                return false;
            m_open.push_back({c == '(' ? ')' : c == '[' ? ']' : '}', 0, {}, here()});
            ++m_at;
        } else if (c == ')' || c == ']' || c == '}') {
            if (m_open.empty() || m_open.back().closes != c)
                return false;
            m_open.pop_back();
            ++m_at;
        } else if (c == ',' || c == ':') {
            if (m_open.empty())
                return false;
            m_open.back().index += c == ',' ? 1 : 0;
            ++m_at;
        } else if (c == '\'' || c == '"') {
            return takeText(c);
        } else {
            takeWord();
        }
        m_any = true;
        return true;
    }

    bool takeText(char quote)
    {
        const std::size_t end = m_text.find(quote, m_at + 1);
        if (end == std::string_view::npos || m_open.empty())
            return false;
        m_open.back().key = std::string(m_text.substr(m_at + 1, end - m_at - 1));
        m_at = end + 1;
        return true;
    }

    void takeWord()
    {
        const std::size_t end = std::min(m_text.find_first_of(",:)]} ", m_at), m_text.size());
        const std::string_view word = m_text.substr(m_at, end - m_at);
        if (parseDecimal(word))
            add(m_leaves, here(), std::string(word));
        m_at = std::max(end, m_at + 1);
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    bool m_any = false;
    std::vector<Container> m_open;
    std::vector<HashLeaf> m_leaves;
};

/// torch._debug_mode's short names.
std::string dtypeOf(std::string_view word)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 17> Names = {
        {{"f64", "float64"},
         {"f32", "float32"},
         {"f16", "float16"},
         {"bf16", "bfloat16"},
         {"i64", "int64"},
         {"i32", "int32"},
         {"i16", "int16"},
         {"i8", "int8"},
         {"u64", "uint64"},
         {"u32", "uint32"},
         {"u16", "uint16"},
         {"u8", "uint8"},
         {"b8", "bool"},
         {"c32", "complex32"},
         {"c64", "complex64"},
         {"c128", "complex128"},
         {"f8e4m3fn", "float8_e4m3fn"}}};
    for (const auto &[shortName, name] : Names) {
        if (word == shortName)
            return std::string(name);
    }
    return std::string(word);
}

std::optional<std::vector<std::uint64_t>> dimensionsOf(std::string_view text)
{
    std::vector<std::uint64_t> dimensions;
    while (!text.empty()) {
        std::uint64_t size = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
        if (error != std::errc() || dimensions.size() == limits::Rank)
            return std::nullopt;
        dimensions.push_back(size);
        text.remove_prefix(std::size_t(end - text.data()));
        if (!text.empty() && !text.starts_with(", "))
            return std::nullopt;
        text.remove_prefix(std::min<std::size_t>(2, text.size()));
    }
    return dimensions;
}

} // namespace

std::vector<HashLeaf> leavesOf(const JsonValue &tree)
{
    std::vector<HashLeaf> leaves;
    collect(tree, leaves);
    return leaves;
}

std::optional<std::vector<HashLeaf>> leavesOf(std::string_view python)
{
    return PythonTree(python).read();
}

std::vector<Observation> layoutsOf(std::string_view arguments)
{
    std::vector<Observation> layouts;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        // "t" or "dt", perhaps "$" and digits, then ": dtype[dims]".
        if (arguments[at] != 't' || layouts.size() == limits::TraceObservations)
            continue;
        const bool distributed = at > 0 && arguments[at - 1] == 'd';
        const std::size_t before = at - (distributed ? 1 : 0);
        if (before > 0 && isWordChar(arguments[before - 1]))
            continue;
        std::size_t colon = at + 1;
        if (colon < arguments.size() && arguments[colon] == '$')
            ++colon;
        while (colon < arguments.size() && isDigit(arguments[colon]))
            ++colon;
        if (!arguments.substr(std::min(colon, arguments.size())).starts_with(": "))
            continue;
        const std::size_t open = arguments.find('[', colon);
        const std::size_t close = open == std::string_view::npos ? open : arguments.find(']', open);
        if (close == std::string_view::npos)
            break;
        const std::string_view word = arguments.substr(colon + 2, open - colon - 2);
        const auto shape = dimensionsOf(arguments.substr(open + 1, close - open - 1));
        if (!shape || word.empty() || !std::all_of(word.begin(), word.end(), isWordChar))
            continue;
        Observation layout;
        layout.dtype = dtypeOf(word);
        layout.shape = shape;
        std::uint64_t count = 1;
        bool fits = true;
        for (const std::uint64_t size : *shape)
            fits = fits && !__builtin_mul_overflow(count, size, &count);
        if (fits)
            layout.count = count;
        layouts.push_back(std::move(layout));
        at = close;
    }
    return layouts;
}

std::vector<Observation> observationsOf(const std::vector<HashLeaf> &leaves,
                                        std::string_view arguments)
{
    std::vector<Observation> observations = layoutsOf(arguments);
    if (leaves.empty()) { // the tool hashes no empty tensors and no scratch memory
        for (Observation &observation : observations)
            observation.absence = Absence::Metadata;
        return observations;
    }
    if (observations.size() != leaves.size())
        observations.assign(leaves.size(), {});
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        Observation &observation = observations[i];
        observation.path = leaves[i].path;
        observation.kind = leaves[i].integer ? DigestKind::XorLanes : DigestKind::Norm;
        observation.digest = leaves[i].text;
        std::uint64_t word = 0;
        const auto &text = leaves[i].text;
        if (!leaves[i].integer)
            continue;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word);
        std::array<char, 17> hex;
        std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(word));
        if (error == std::errc() && end == text.data() + text.size())
            observation.digest = hex.data();
        else
            observation.kind = DigestKind::Norm; // beyond 64 bits: no hash of this kind
    }
    return observations;
}

} // namespace forkpoint
