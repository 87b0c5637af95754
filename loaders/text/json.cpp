// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json.h"

#include "loaders/limits.h"
#include "loaders/text/json_nonfinite.h"
#include "loaders/text/json_scanner.h"
#include "model/key_path.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include <nlohmann/json.hpp>

namespace forkpoint {

namespace {

/// Walks over the text and lets the builder know where the parser is.
class TrackedIterator
{
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    TrackedIterator(const char *position, const char **reached)
        : m_position(position),
          m_reached(reached)
    {
    }

    reference operator*() const { return *m_position; }
    TrackedIterator &operator++()
    {
        *m_reached = ++m_position;
        return *this;
    }
    TrackedIterator operator++(int)
    {
        TrackedIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const TrackedIterator &other) const { return m_position == other.m_position; }
    bool operator!=(const TrackedIterator &other) const { return m_position != other.m_position; }

private:
    const char *m_position;
    const char **m_reached;
};

Error malformed(std::size_t position, std::string text, ErrorCode code = ErrorCode::Malformed)
{
    return {code, {}, "byte " + std::to_string(position), std::move(text)};
}

/// nlohmann's words without its own prefix: "unexpected '}'; expected string literal".
std::string reasonOf(const char *words)
{
    std::string text = words;
    if (const std::size_t dash = text.rfind(" - "); dash != std::string::npos)
        text = text.substr(dash + 3);
    constexpr std::size_t MostOfAReason = 200; // it quotes what it read, however long
    if (text.size() > MostOfAReason)
        text = text.substr(0, MostOfAReason) + "...";
    return escapeInvalidUtf8("must be JSON: " + text);
}

} // namespace

/// Receives nlohmann's events; false stops the parser.
class JsonBuilder
{
public:
    JsonBuilder(std::string_view text, RepeatedKeys repeated,
                std::vector<FiniteText::Replaced> replaced)
        : m_text(text),
          m_reached(text.data()),
          m_repeated(repeated),
          m_replaced(std::move(replaced))
    {
        m_document.m_repeated = repeated;
    }

    using number_integer_t = std::int64_t;
    using number_unsigned_t = std::uint64_t;
    using number_float_t = double;
    using string_t = std::string;
    using binary_t = nlohmann::json::binary_t;

    bool null() { return add(JsonValue::Kind::Null, 0); }
    bool boolean(bool value) { return add(JsonValue::Kind::Bool, value ? 1 : 0); }
    bool number_integer(std::int64_t value)
    {
        return add(JsonValue::Kind::Negative, std::uint64_t(value));
    }
    bool number_unsigned(std::uint64_t value) { return add(JsonValue::Kind::Unsigned, value); }
    bool number_float(double value, const std::string &digits)
    {
        if (const auto real = wasReplaced()) {
            m_document.m_hasNonFinite = true;
            return add(JsonValue::Kind::Real, std::bit_cast<std::uint64_t>(*real));
        }
        if (digits.find_first_of(".eE") == std::string::npos)
            return addText(JsonValue::Kind::Digits, digits);
        return add(JsonValue::Kind::Real, std::bit_cast<std::uint64_t>(value));
    }
    bool string(std::string &text) { return addText(JsonValue::Kind::Text, text); }
    bool binary(binary_t &) { return false; }
    bool start_object(std::size_t) { return open(JsonValue::Kind::Object); }
    bool start_array(std::size_t) { return open(JsonValue::Kind::Array); }
    bool end_array() { return close(); }
    bool end_object()
    {
        if (m_repeated == RepeatedKeys::Keep)
            return close();
        const auto twice = m_document.repeatedKey(m_open.back(), m_document.m_texts);
        if (!twice)
            return close();
        return fail("an object has the key '" + escapeInvalidUtf8(*twice) + "' twice");
    }
    bool key(std::string &text)
    {
        m_keyBegin = std::uint32_t(m_document.m_texts.size());
        m_keyLength = std::uint32_t(text.size());
        m_document.m_texts += text;
        return true;
    }
    bool parse_error(std::size_t position, const std::string &,
                     const nlohmann::detail::exception &e)
    {
        m_error = malformed(position == 0 ? reached() : position - 1, reasonOf(e.what()));
        return false;
    }

    Result<JsonDocument> build()
    {
        const char *const end = m_text.data() + m_text.size();
        const bool parsed = nlohmann::json::sax_parse(TrackedIterator(m_text.data(), &m_reached),
                                                      TrackedIterator(end, &m_reached), this);
        if (m_error)
            return std::move(*m_error);
        if (!parsed || m_document.m_nodes.empty())
            return malformed(reached(), "must be JSON");
        return std::move(m_document);
    }

private:
    std::size_t reached() const { return std::size_t(m_reached - m_text.data()); }

    /// What the number stands for that was just read: the parser may have looked at the byte behind it.
    std::optional<double> wasReplaced() const
    {
        const auto found = std::lower_bound(
            m_replaced.begin(), m_replaced.end(), reached(),
            [](const auto &each, std::size_t place) { return each.end + 1 < place; });
        const bool isAt = found != m_replaced.end() && found->end <= reached();
        return isAt ? std::optional(found->value) : std::nullopt;
    }

    bool fail(std::string text, ErrorCode code = ErrorCode::Malformed)
    {
        m_error = malformed(reached(), std::move(text), code);
        return false;
    }

    bool add(JsonValue::Kind kind, std::uint64_t value, std::size_t length = 0)
    {
        auto &nodes = m_document.m_nodes;
        if (!m_open.empty())
            ++nodes[m_open.back()].length;
        JsonDocument::Node node;
        node.kind = kind;
        node.value = value;
        node.length = std::uint32_t(length);
        node.next = std::uint32_t(nodes.size() + 1);
        node.keyBegin = std::exchange(m_keyBegin, 0);
        node.keyLength = std::exchange(m_keyLength, 0);
        nodes.push_back(node);
        return true;
    }

    bool addText(JsonValue::Kind kind, const std::string &text)
    {
        add(kind, m_document.m_texts.size(), text.size());
        m_document.m_texts += text;
        return true;
    }

    bool open(JsonValue::Kind kind)
    {
        if (m_open.size() >= limits::JsonDepth) {
            return fail("may have at most " + std::to_string(limits::JsonDepth) + " levels",
                        ErrorCode::Limit);
        }
        add(kind, 0);
        m_open.push_back(std::uint32_t(m_document.m_nodes.size() - 1));
        return true;
    }

    bool close()
    {
        m_document.m_nodes[m_open.back()].next = std::uint32_t(m_document.m_nodes.size());
        m_open.pop_back();
        return true;
    }

    std::string_view m_text;
    const char *m_reached;
    RepeatedKeys m_repeated;
    std::vector<FiniteText::Replaced> m_replaced;
    JsonDocument m_document;
    std::vector<std::uint32_t> m_open;
    std::uint32_t m_keyBegin = 0;
    std::uint32_t m_keyLength = 0;
    std::optional<Error> m_error;
};

Result<JsonDocument> JsonDocument::parse(std::string_view text, RepeatedKeys repeated,
                                         NonFinite nonFinite)
{
    JsonDocument document;
    FP_CHECK(document.reparse(text, repeated, nonFinite));
    return document;
}

Status JsonDocument::reparse(std::string_view text, RepeatedKeys repeated, NonFinite nonFinite)
{
    if (text.size() <= limits::JsonBytes && JsonScanner(text, repeated, nonFinite, *this).scan())
        return {};
    *this = {}; // its memory goes before the other's comes
    FP_TRY(*this, parseGeneral(text, repeated, nonFinite));
    return {};
}

Result<JsonDocument> JsonDocument::parseGeneral(std::string_view text, RepeatedKeys repeated,
                                                NonFinite nonFinite)
{
    if (text.size() > limits::JsonBytes) {
        return malformed(0,
                         "may have at most " + std::to_string(limits::JsonBytes) + " bytes, has "
                             + std::to_string(text.size()),
                         ErrorCode::Limit);
    }
    // The parser would take a NUL for the end, and would skip a byte order mark.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        return malformed(nul, "must be JSON, has a NUL");
    if (text.starts_with("\xEF\xBB\xBF"))
        return malformed(0, "must be JSON, begins with a byte order mark");
    if (nonFinite == NonFinite::Take) {
        if (auto finite = withFiniteNumbers(text))
            return JsonBuilder(finite->text, repeated, std::move(finite->replaced)).build();
    }
    return JsonBuilder(text, repeated, {}).build();
}

std::optional<std::string_view> JsonDocument::repeatedKey(std::uint32_t object,
                                                          std::string_view texts) const
{
    std::vector<std::string_view> keys;
    keys.reserve(m_nodes[object].length);
    for (std::uint32_t member = object + 1; keys.size() < m_nodes[object].length;) {
        const Node &node = m_nodes[member];
        keys.push_back(texts.substr(node.keyBegin, node.keyLength));
        member = node.next;
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    return twice == keys.end() ? std::nullopt : std::optional(*twice);
}

JsonValue::Kind JsonValue::kind() const
{
    return m_document->m_nodes[m_node].kind;
}

std::string_view JsonValue::kindName() const
{
    switch (kind()) {
    case Kind::Null: return "null";
    case Kind::Bool: return "a bool";
    case Kind::Unsigned: return "an integer";
    case Kind::Negative: return "a negative integer";
    case Kind::Digits: return "an integer beyond 64 bits";
    case Kind::Real: return "a float";
    case Kind::Text: return "text";
    case Kind::Array: return "a list";
    case Kind::Object: return "an object";
    }
    return "something else";
}

std::optional<bool> JsonValue::boolean() const
{
    if (kind() != Kind::Bool)
        return std::nullopt;
    return m_document->m_nodes[m_node].value != 0;
}

std::optional<std::uint64_t> JsonValue::unsignedInteger() const
{
    if (kind() != Kind::Unsigned)
        return std::nullopt;
    return m_document->m_nodes[m_node].value;
}

std::optional<std::int64_t> JsonValue::negative() const
{
    if (kind() != Kind::Negative)
        return std::nullopt;
    return std::int64_t(m_document->m_nodes[m_node].value);
}

std::optional<double> JsonValue::real() const
{
    if (kind() != Kind::Real)
        return std::nullopt;
    return std::bit_cast<double>(m_document->m_nodes[m_node].value);
}

std::optional<std::string_view> JsonValue::text() const
{
    if (kind() != Kind::Text && kind() != Kind::Digits)
        return std::nullopt;
    const auto &node = m_document->m_nodes[m_node];
    return std::string_view(m_document->m_texts).substr(std::size_t(node.value), node.length);
}

std::string_view JsonValue::key() const
{
    const auto &node = m_document->m_nodes[m_node];
    return std::string_view(m_document->m_texts).substr(node.keyBegin, node.keyLength);
}

std::optional<JsonValue::Place> JsonValue::place() const
{
    const auto &node = m_document->m_nodes[m_node];
    if (!m_document->m_isPlain || node.kind == Kind::Array || node.kind == Kind::Object)
        return std::nullopt;
    return Place{node.kind == Kind::Text ? std::size_t(node.value) : node.begin, node.length};
}

std::vector<JsonValue> JsonValue::children() const
{
    std::vector<JsonValue> result;
    result.reserve(childCount());
    for (const JsonValue &child : each())
        result.push_back(child);
    return result;
}

JsonChildren JsonValue::each() const
{
    return JsonChildren(*this);
}

std::size_t JsonValue::childCount() const
{
    return isArray() || isObject() ? m_document->m_nodes[m_node].length : 0;
}

bool JsonValue::isCalled(std::uint32_t node, std::string_view key) const
{
    const JsonDocument::Node &member = m_document->m_nodes[node];
    // Most keys differ in length or at an end already: nothing is called for those.
    if (member.keyLength != key.size())
        return false;
    const char *const own = m_document->m_texts.data() + member.keyBegin;
    return key.empty()
        || (own[0] == key.front() && own[key.size() - 1] == key.back()
            && key == std::string_view(own, key.size()));
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const
{
    const JsonDocument::Node *const nodes = m_document->m_nodes.data();
    const bool mayRepeat = m_document->m_repeated == RepeatedKeys::Keep;
    std::optional<JsonValue> last;
    std::uint32_t child = m_node + 1;
    for (std::size_t left = childCount(); left > 0; --left, child = nodes[child].next) {
        if (!isCalled(child, key))
            continue;
        last = JsonValue(m_document, child);
        if (!mayRepeat)
            break;
    }
    return last;
}

void JsonDocument::startLooks(bool isLikeLast)
{
    if (!isLikeLast)
        m_asked.clear();
    m_isLikeLast = isLikeLast;
    m_answered = 0;
}

const JsonDocument::Asked *JsonDocument::recall(std::uint32_t object, std::string_view key) const
{
    if (m_answered >= m_asked.size())
        return nullptr;
    const Asked &next = m_asked[m_answered];
    if (next.object == object && next.key == key) {
        ++m_answered;
        return &next;
    }
    m_asked.resize(m_answered); // other looks from here on
    return nullptr;
}

void JsonDocument::remember(std::uint32_t object, std::string_view key, std::uint32_t found) const
{
    if (m_answered != m_asked.size() || m_answered == MostAsked)
        return;
    m_asked.push_back({std::string(key), object, found});
    ++m_answered;
}

std::optional<JsonValue> JsonValue::find(std::string_view key, std::uint32_t &last) const
{
    if (!m_document->m_isLikeLast)
        return search(key, last);
    if (const JsonDocument::Asked *known = m_document->recall(m_node, key)) {
        if (known->found == 0)
            return std::nullopt;
        last = known->found;
        return JsonValue(m_document, known->found);
    }
    const std::optional<JsonValue> found = search(key, last);
    m_document->remember(m_node, key, found ? found->m_node : 0);
    return found;
}

std::optional<JsonValue> JsonValue::search(std::string_view key, std::uint32_t &last) const
{
    const auto &nodes = m_document->m_nodes;
    if (last > m_node && m_document->m_repeated == RepeatedKeys::Refuse) {
        for (const std::uint32_t near : {last, nodes[last].next}) {
            if (near < nodes[m_node].next && isCalled(near, key)) {
                last = near;
                return JsonValue(m_document, near);
            }
        }
    }
    const std::optional<JsonValue> found = find(key);
    if (found)
        last = found->m_node;
    return found;
}

} // namespace forkpoint
